"""The Helm chart (`lws-volcano/`), and what of it is generated (`generate`)."""
