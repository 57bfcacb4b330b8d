{{/* Security context of every container: no privilege escalation, no capability, a read-only file system. */}}
{{- define "weir.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Security context of every pod. Takes the user id, or null if the cluster chooses the user. */}}
{{- define "weir.podSecurity" -}}
runAsNonRoot: true
{{- with . }}
runAsUser: {{ int64 . }}
runAsGroup: {{ int64 . }}
fsGroup: {{ int64 . }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/*
The readiness probe runs often, so that a load balancer notices soon. The liveness probe detects a process that hangs.
It does not depend on other services. A start may take five minutes.
*/}}
{{- define "weir.probes" -}}
startupProbe:
  httpGet: { path: /livez, port: ops }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 150
livenessProbe:
  httpGet: { path: /livez, port: ops }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: ops }
  periodSeconds: 2
  timeoutSeconds: 4
  failureThreshold: 2
{{- end -}}

{{/* Scheduling of pods: by default they prefer different nodes and zones. Takes root, name and values. */}}
{{- define "weir.placement" -}}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- if .values.affinity }}
affinity:
  {{- toYaml .values.affinity | nindent 2 }}
{{- else if hasKey .values "topologySpreadConstraints" }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "weir.selector" . | nindent 14 }}
{{- end }}
{{- if hasKey .values "topologySpreadConstraints" }}
topologySpreadConstraints:
  {{- if .values.topologySpreadConstraints }}
  {{- toYaml .values.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "weir.selector" . | nindent 8 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Fields that the spec of every pod begins with. Takes the root. */}}
{{- define "weir.podBasics" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . | quote }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
Pod template of one of the three processes. Takes root, name, component, settings, podFields, ports, volumes and mounts.
On the host network it also takes hostNetwork, podSecurity and containerSecurity.
*/}}
{{- define "weir.podTemplate" -}}
{{- $values := index .root.Values .component -}}
{{- $volumes := .volumes -}}
{{- $mounts := .mounts -}}
{{- with .root.Values.secrets.feedTokensSecret -}}
{{- $_ := set $.settings "FEED_TOKENS_FILE" "/etc/weir/feed-tokens/tokens" -}}
{{- $volumes = append $volumes (dict "name" "feed-tokens" "secret" (dict "secretName" .)) -}}
{{- $mounts = append $mounts (dict "name" "feed-tokens" "mountPath" "/etc/weir/feed-tokens" "readOnly" true) -}}
{{- end -}}
{{- $env := include "weir.environment" . -}}
{{- range $given := $env | fromYamlArray -}}
{{- range $values.extraEnv -}}
{{- if eq .name $given.name -}}
{{- fail (printf "%s.extraEnv: the container has %s already; set it in %s.env or the Secret" $.component .name $.component) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $given := $mounts -}}
{{- /* Kubernetes takes the volume of a claim silently in place of another one with its name. */ -}}
{{- range $values.extraVolumes -}}
{{- if eq .name $given.name -}}
{{- fail (printf "%s.extraVolumes: the pod has a volume %s already; choose another name" $.component .name) -}}
{{- end -}}
{{- end -}}
{{- range $values.extraVolumeMounts -}}
{{- if eq .mountPath $given.mountPath -}}
{{- fail (printf "%s.extraVolumeMounts: the container has a volume at %s already" $.component .mountPath) -}}
{{- end -}}
{{- end -}}
{{- end }}
metadata:
  labels:
    {{- merge (include "weir.labels" . | fromYaml) $values.podLabels | toYaml | nindent 4 }}
  {{- $annotations := deepCopy $values.podAnnotations }}
  {{- if not .root.Values.secrets.existing }}
  {{- $_ := set $annotations "checksum/secret" (include "weir.secretChecksum" .) }}
  {{- end }}
  {{- with $annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "weir.podBasics" .root | nindent 2 }}
  {{- if .hostNetwork }}
  hostNetwork: true
  dnsPolicy: ClusterFirstWithHostNet
  {{- end }}
  securityContext:
    {{- .podSecurity | default (include "weir.podSecurity" .root.Values.image.user) | nindent 4 }}
  # After DRAIN_S a process takes at most ten seconds to end.
  terminationGracePeriodSeconds: {{ add $values.env.DRAIN_S 15 }}
  {{- include "weir.placement" (dict "root" .root "name" .name "values" $values) | nindent 2 }}
  containers:
    - name: {{ .name }}
      image: {{ include "weir.image" . }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      securityContext:
        {{- .containerSecurity | default (include "weir.containerSecurity" .) | nindent 8 }}
      env:
        {{- $env | nindent 8 }}
        {{- with $values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $values.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        {{- toYaml .ports | nindent 8 }}
      {{- include "weir.probes" . | nindent 6 }}
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      {{- with concat $mounts $values.extraVolumeMounts }}
      volumeMounts:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- with $values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with concat $volumes $values.extraVolumes }}
  volumes:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* PodDisruptionBudget of a component. Takes root, name and values. */}}
{{- define "weir.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "weir.metadata" . | nindent 2 }}
spec:
  maxUnavailable: {{ .values.disruptionBudget.maxUnavailable }}
  # A pod that is not ready serves nobody. It must not block a node drain.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "weir.selector" . | nindent 6 }}
{{- end -}}
