{{/* Where Prometheus finds the pods of a component, also those that are not ready. Takes root, name and port. */}}
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
