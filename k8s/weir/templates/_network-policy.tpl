{{/* NetworkPolicy of a component. Takes root, name and rules. A rule has ports, and from or open (everybody). */}}
{{- define "weir.networkPolicy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "weir.metadata" . | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "weir.selector" . | nindent 6 }}
  policyTypes: [Ingress]
  ingress:
    {{- range .rules }}
    {{- /* For Kubernetes an empty list of peers means everybody. So a port without peers gets no rule. */}}
    {{- if or .open .from }}
    - ports:
        {{- range .ports }}
        - port: {{ . }}
          {{- if hasSuffix "-udp" . }}
          protocol: UDP
          {{- end }}
        {{- end }}
      {{- with .from }}
      from:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- end }}
    {{- end }}
{{- end -}}

{{/* Pods of this release as peers, as JSON. Takes root and names (a list). */}}
{{- define "weir.peers" -}}
{{- $root := .root -}}
{{- $peers := list -}}
{{- range .names -}}
{{- $labels := include "weir.selector" (dict "root" $root "name" .) | fromYaml -}}
{{- $peers = append $peers (dict "podSelector" (dict "matchLabels" $labels)) -}}
{{- end -}}
{{- toJson $peers -}}
{{- end -}}
