# docker build -t lws-volcano:0.1.0 .
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY lws_volcano ./lws_volcano
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --no-compile . \
 && /venv/bin/pip uninstall --yes pip \
 && find /venv -type d -name __pycache__ -prune -exec rm -rf {} + \
 && /venv/bin/python -m compileall -q /venv/lib

FROM python:3.13-slim
# The files of /venv are root's: the process can't change its own program.
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
EXPOSE 8080 9443
ENTRYPOINT ["lws-volcano"]
CMD ["run"]
