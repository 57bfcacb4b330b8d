{{/* Formats a value for an environment variable: a list with commas, an object as JSON, a number in digits. */}}
{{- define "weir.text" -}}
{{- if kindIs "slice" . -}}
{{- join "," . -}}
{{- else if or (kindIs "map" .) (kindIs "float64" .) -}}
{{- toJson . -}}
{{- else -}}
{{- toString . -}}
{{- end -}}
{{- end -}}

{{/*
The secret variables of a component, as a JSON object: name → whether it is required. The list is generated from the
configuration schema of the process. Takes root and component (controlPlane, resolver …).
*/}}
{{- define "weir.secretVariables" -}}
{{- $all := .root.Files.Get "files/secret-variables.json" | fromJson -}}
{{- index $all .component | toJson -}}
{{- end -}}

{{/*
The environment of a component. The chart sets `settings`. `env` of the values overrides them. Secret variables come
from the Secret. Takes root, component, settings (name → value) and podFields (name → field of the pod).
*/}}
{{- define "weir.environment" -}}
{{- $env := (index .root.Values .component).env -}}
{{- /* `merge` is not used here: it treats false and 0 as unset. */}}
{{- $all := deepCopy .settings -}}
{{- range $name, $value := $env }}
{{- $_ := set $all $name $value }}
{{- end }}
{{- range $name, $value := $all }}
- name: {{ $name }}
  value: {{ include "weir.text" $value | quote }}
{{- end }}
{{- range $name, $path := .podFields }}
{{- if not (hasKey $env $name) }}
- name: {{ $name }}
  valueFrom:
    fieldRef:
      fieldPath: {{ $path }}
{{- end }}
{{- end }}
{{- $secretName := include "weir.secretName" .root }}
{{- range $name, $required := include "weir.secretVariables" . | fromJson }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $secretName | quote }}
      key: {{ $name }}
      {{- if not $required }}
      optional: true
      {{- end }}
{{- end }}
{{- end -}}

{{/* Volume with the authorities of the feed's certificate, without its key, as a JSON object. Takes the root. */}}
{{- define "weir.feedAuthorities" -}}
{{- $items := list (dict "key" "ca.crt" "path" "ca.crt") -}}
{{- $secret := dict "secretName" .Values.controlPlane.feedTlsSecret "items" $items -}}
{{- toJson (dict "name" "feed-ca" "secret" $secret) -}}
{{- end -}}

{{/* URL of the feed for resolvers and block pages. Takes the root. */}}
{{- define "weir.feedUrl" -}}
{{- $service := printf "%s-control-plane-feed.%s.svc" (include "weir.fullname" .) .Release.Namespace -}}
{{ ternary "https" "http" (ne .Values.controlPlane.feedTlsSecret "") }}://{{ $service }}:{{ .Values.controlPlane.env.FEED_PORT }}
{{- end -}}
