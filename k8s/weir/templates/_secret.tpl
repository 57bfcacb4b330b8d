{{/*
What the chart's own Secret holds, as JSON. Of these the first that there is: what the values give; what the bundled
stores are known by; what the Secret in the cluster has already; for keys and tokens of the deployment, something
random. All templates of a rendering get the same. Takes the root.
*/}}
{{- define "weir.secretData" -}}
{{- if not (hasKey .Values "renderedSecret") -}}
{{- $kept := dict -}}
{{- range $name, $encoded := (lookup "v1" "Secret" .Release.Namespace (include "weir.fullname" .)).data -}}
{{- $_ := set $kept $name (b64dec $encoded) -}}
{{- end -}}
{{- $data := dict -}}
{{- range $name, $value := .Values.secrets.values -}}
{{- $_ := set $data $name (include "weir.text" $value) -}}
{{- end -}}
{{- $data = merge $data (include "weir.bundledStores" (dict "root" . "kept" $kept) | fromJson) -}}
{{- $data = merge $data $kept (include "weir.randomSecrets" . | fromJson) -}}
{{- range $name, $switch := dict "DATABASE_URL" "postgresql.bundled" "REDIS_URL" "redis.bundled" -}}
{{- if not (hasKey $data $name) -}}
{{- $ways := printf "secrets.existing, or secrets.values.%s, or for a trial %s=true" $name $switch -}}
{{- fail (printf "%s is not known: give %s" $name $ways) -}}
{{- end -}}
{{- end -}}
{{- $_ := set .Values "renderedSecret" (toJson $data) -}}
{{- end -}}
{{- .Values.renderedSecret -}}
{{- end -}}

{{/* Passwords and URLs of the stores that the chart runs itself. Takes root and kept. */}}
{{- define "weir.bundledStores" -}}
{{- $stores := dict -}}
{{- $fullname := include "weir.fullname" .root -}}
{{- if .root.Values.postgresql.bundled -}}
{{- $password := .kept.POSTGRES_PASSWORD | default (randAlphaNum 32) -}}
{{- $url := printf "postgresql://weir:%s@%s-postgresql:5432/weir" $password $fullname -}}
{{- $_ := set $stores "POSTGRES_PASSWORD" $password -}}
{{- $_ := set $stores "DATABASE_URL" $url -}}
{{- end -}}
{{- if .root.Values.redis.bundled -}}
{{- $password := .kept.REDIS_PASSWORD | default (randAlphaNum 32) -}}
{{- $_ := set $stores "REDIS_PASSWORD" $password -}}
{{- $_ := set $stores "REDIS_URL" (printf "redis://:%s@%s-redis:6379" $password $fullname) -}}
{{- $_ := set $stores "redis.conf" (printf "%srequirepass %s\n" (.root.Files.Get "files/redis.conf") $password) -}}
{{- end -}}
{{- toJson $stores -}}
{{- end -}}

{{/* 32 hexadecimal digits are the first of a hash over letters and digits of the system's random source. */}}
{{- define "weir.randomSecrets" -}}
{{- toJson (dict
  "DOMAIN_HASH_KEY" (randAlphaNum 64 | sha256sum | trunc 32)
  "DNS_COOKIE_SECRETS" (randAlphaNum 64 | sha256sum | trunc 32)
  "FEED_TOKEN" (randAlphaNum 40)
  "MANAGEMENT_TOKENS" (randAlphaNum 40)
) -}}
{{- end -}}

{{/*
Changes with the component's part of the Secret that the chart makes, so that its pods are replaced then. Takes root and
component.
*/}}
{{- define "weir.secretChecksum" -}}
{{- $data := include "weir.secretData" .root | fromJson -}}
{{- $part := dict -}}
{{- range $name, $required := include "weir.secretVariables" . | fromJson -}}
{{- $_ := set $part $name (get $data $name) -}}
{{- end -}}
{{- toJson $part | sha256sum -}}
{{- end -}}
