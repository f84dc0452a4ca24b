{{- define "lws-volcano.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "lws-volcano.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "lws-volcano.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "lws-volcano.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "lws-volcano.webhookName" -}}
{{ include "lws-volcano.fullname" . }}-webhook
{{- end -}}

{{- define "lws-volcano.secretName" -}}
{{- default (include "lws-volcano.webhookName" .) .Values.webhook.existingSecret -}}
{{- end -}}

{{- define "lws-volcano.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "lws-volcano.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name is needed when serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "lws-volcano.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "lws-volcano.selector" -}}
app.kubernetes.io/name: {{ include "lws-volcano.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "lws-volcano.labels" -}}
{{ include "lws-volcano.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The ConfigMap with topology files, empty where there is none. */}}
{{- define "lws-volcano.topologyFiles" -}}
{{- if .Values.topologyFiles.existingConfigMap }}{{ .Values.topologyFiles.existingConfigMap }}
{{- else if .Values.topologyFiles.inline }}{{ include "lws-volcano.fullname" . }}-topologies{{ end }}
{{- end }}
