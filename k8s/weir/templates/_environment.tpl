{{/* A value as an environment variable has it: lists by commas, objects as JSON, large numbers in digits. */}}
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
The secret variables of a component, as JSON: by name, whether it is required. The list is made from what the process
reads. Takes root and component (controlPlane, resolver …).
*/}}
{{- define "weir.secretVariables" -}}
{{- $all := .root.Files.Get "files/secret-variables.json" | fromJson -}}
{{- index $all .component | toJson -}}
{{- end -}}

{{/*
The environment of a component: what the chart sets, what the values say, which goes before it, and what is in the
Secret. Takes root, component, settings (name → value) and podFields (name → field of the pod).
*/}}
{{- define "weir.environment" -}}
{{- $env := (index .root.Values .component).env -}}
{{- /* Not `merge`, to which false and 0 count as nothing. */}}
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
      name: {{ $secretName }}
      key: {{ $name }}
      {{- if not $required }}
      optional: true
      {{- end }}
{{- end }}
{{- end -}}

{{/* Where resolvers and block pages find the feed. Takes the root. */}}
{{- define "weir.feedUrl" -}}
{{- $service := printf "%s-control-plane-feed.%s.svc" (include "weir.fullname" .) .Release.Namespace -}}
http://{{ $service }}:{{ .Values.controlPlane.env.FEED_PORT }}
{{- end -}}
