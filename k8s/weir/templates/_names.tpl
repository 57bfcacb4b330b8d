{{/* Prefix of the name of every object. Takes the root. */}}
{{- define "weir.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "weir" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-weir" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a component. Takes root and name (control-plane, resolver …). */}}
{{- define "weir.selector" -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{/* Labels of an object, then its further ones, then those of commonLabels. Takes root, name, and labels if it has any. */}}
{{- define "weir.labels" -}}
{{- merge (include "weir.ownLabels" . | fromYaml) (.labels | default dict) .root.Values.commonLabels | toYaml -}}
{{- end -}}

{{- define "weir.ownLabels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/part-of: weir
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/*
Name, namespace and labels of an object. Takes root, name, suffix if a component has several of a kind, and labels
if it has further ones.
*/}}
{{- define "weir.metadata" -}}
name: {{ include "weir.fullname" .root }}-{{ .name }}{{ with .suffix }}-{{ . }}{{ end }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  {{- include "weir.labels" . | nindent 2 }}
{{- end -}}

{{/* Image of a component. Takes root and name. */}}
{{- define "weir.image" -}}
{{- $image := .root.Values.image -}}
{{- $path := list $image.registry $image.repository .name | compact | join "/" -}}
{{- printf "%s:%s" $path ($image.tag | default .root.Chart.AppVersion) -}}
{{- with get $image.digest .name -}}@{{ . }}{{- end -}}
{{- end -}}

{{/* Name of the Secret with the secret variables. Takes the root. */}}
{{- define "weir.secretName" -}}
{{- .Values.secrets.existing | default (include "weir.fullname" .) -}}
{{- end -}}
