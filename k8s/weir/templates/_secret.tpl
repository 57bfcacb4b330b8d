{{/*
Data of the chart's own Secret, as a JSON object. Each value comes from the first of these sources that has it:
1. secrets.values
2. passwords and URLs of the bundled PostgreSQL and Redis
3. with secrets.generate the Secret that is already in the cluster
4. with secrets.generate a random value, for keys and tokens of the deployment
All templates of one rendering get the same data. Takes the root.
*/}}
{{- define "weir.secretData" -}}
{{- if not (hasKey .Values "renderedSecret") -}}
{{- $generate := .Values.secrets.generate -}}
{{- $kept := dict -}}
{{- if $generate -}}
{{- range $name, $encoded := (lookup "v1" "Secret" .Release.Namespace (include "weir.fullname" .)).data -}}
{{- $_ := set $kept $name (b64dec $encoded) -}}
{{- end -}}
{{- end -}}
{{- $data := dict -}}
{{- range $name, $value := .Values.secrets.values -}}
{{- $_ := set $data $name (include "weir.text" $value) -}}
{{- end -}}
{{- $data = merge $data (include "weir.bundledStores" (dict "root" . "kept" $kept) | fromJson) -}}
{{- if $generate -}}
{{- $data = merge $data $kept (include "weir.randomSecrets" . | fromJson) -}}
{{- end -}}
{{- include "weir.checkSecrets" (dict "root" . "data" $data) -}}
{{- $_ := set .Values "renderedSecret" (toJson $data) -}}
{{- end -}}
{{- .Values.renderedSecret -}}
{{- end -}}

{{/* Fails if a secret that the release needs is not set. Takes root and data (of the Secret). */}}
{{- define "weir.checkSecrets" -}}
{{- $values := .root.Values -}}
{{- $stores := dict "REDIS_URL" "redis.bundled" -}}
{{- $keys := list "DOMAIN_HASH_KEY" -}}
{{- if not $values.secrets.feedTokensSecret -}}
{{- $keys = append $keys "FEED_TOKENS" -}}
{{- end -}}
{{- if $values.controlPlane.enabled -}}
{{- $_ := set $stores "DATABASE_URL" "postgresql.bundled" -}}
{{- if not $values.controlPlane.tokensSecret -}}
{{- $keys = append $keys "MANAGEMENT_TOKENS" -}}
{{- end -}}
{{- end -}}
{{- range $name, $switch := $stores -}}
{{- if not (hasKey $.data $name) -}}
{{- $ways := printf "secrets.existing, or secrets.values.%s, or for a trial %s=true" $name $switch -}}
{{- fail (printf "%s is not set: set %s" $name $ways) -}}
{{- end -}}
{{- end -}}
{{- range $keys -}}
{{- if not (hasKey $.data .) -}}
{{- $ways := printf "secrets.existing, or secrets.values.%s, or, unless Argo CD or Flux renders, secrets.generate=true" . -}}
{{- fail (printf "%s is not set: set %s" . $ways) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Passwords and URLs of the bundled PostgreSQL and Redis. Takes root and kept (data of the existing Secret). */}}
{{- define "weir.bundledStores" -}}
{{- $stores := dict -}}
{{- $fullname := include "weir.fullname" .root -}}
{{- if .root.Values.postgresql.bundled -}}
{{- $password := .kept.POSTGRES_PASSWORD | default (randAlphaNum 32) -}}
{{- $runtimePassword := .kept.POSTGRES_RUNTIME_PASSWORD | default (randAlphaNum 32) -}}
{{- $server := printf "%s-postgresql:5432/weir" $fullname -}}
{{- $_ := set $stores "POSTGRES_PASSWORD" $password -}}
{{- $_ := set $stores "POSTGRES_RUNTIME_PASSWORD" $runtimePassword -}}
{{- $_ := set $stores "DATABASE_URL" (printf "postgresql://weir_runtime:%s@%s" $runtimePassword $server) -}}
{{- $_ := set $stores "OWNER_DATABASE_URL" (printf "postgresql://weir:%s@%s" $password $server) -}}
{{- end -}}
{{- if .root.Values.redis.bundled -}}
{{- $password := .kept.REDIS_PASSWORD | default (randAlphaNum 32) -}}
{{- $_ := set $stores "REDIS_PASSWORD" $password -}}
{{- $_ := set $stores "REDIS_URL" (printf "redis://:%s@%s-redis:6379" $password $fullname) -}}
{{- $_ := set $stores "redis.conf" (printf "%srequirepass %s\n" (.root.Files.Get "files/redis.conf") $password) -}}
{{- end -}}
{{- toJson $stores -}}
{{- end -}}

{{/* Random secrets. 32 hexadecimal digits are the first digits of a hash of random letters and digits. */}}
{{- define "weir.randomSecrets" -}}
{{- toJson (dict
  "DOMAIN_HASH_KEY" (randAlphaNum 64 | sha256sum | trunc 32)
  "DNS_COOKIE_SECRETS" (randAlphaNum 64 | sha256sum | trunc 32)
  "INCIDENT_KEYS" (randAlphaNum 64 | sha256sum | trunc 32)
  "FEED_TOKENS" (randAlphaNum 40)
  "MANAGEMENT_TOKENS" (randAlphaNum 40)
  "OPS_TOKENS" (randAlphaNum 40)
) -}}
{{- end -}}

{{/*
Checksum of the variables in the chart's own Secret that a component reads. It is a pod annotation: when it changes,
Kubernetes replaces the pods. Takes root and component.
*/}}
{{- define "weir.secretChecksum" -}}
{{- $data := include "weir.secretData" .root | fromJson -}}
{{- $part := dict -}}
{{- range $name, $required := include "weir.secretVariables" . | fromJson -}}
{{- $_ := set $part $name (get $data $name) -}}
{{- end -}}
{{- toJson $part | sha256sum -}}
{{- end -}}
