"""The admission webhook that binds pods to their PodGroup at creation.

Here: reading and answering AdmissionReviews (`review`), the decision on one pod (`decide`, with `patch` for the JSON
Patch, `hints` for the seam to placement and `planned_hints` behind it), finding the LeaderWorkerSet behind a pod
(`lookup`), the HTTPS server (`server`, `handler`), its certificate (`certificates`, `keeper`), and the
MutatingWebhookConfiguration (`configuration`, `registration`). `service` puts them together for the controller.
Not here: the rules of opt-in, naming and gates (`mapping`), where pods go (`placement`).
"""
