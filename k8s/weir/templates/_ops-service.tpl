{{/* Service by which Prometheus finds all pods of a component, ready or not. Takes root, name and port. */}}
{{- define "weir.opsService" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "weir.metadata" (merge (dict "suffix" "ops") .) | nindent 2 }}
    weir/metrics: {{ .name }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    {{- include "weir.selector" . | nindent 4 }}
  ports:
    - name: ops
      port: {{ .port }}
      targetPort: ops
{{- end -}}
