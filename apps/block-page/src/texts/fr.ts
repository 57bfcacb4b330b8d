import type { Texts } from './texts.js';

export const fr: Texts = {
  direction: 'ltr',
  blockedTitle: 'Ce site est bloqué',
  blockedText: 'Vos propres réglages de filtrage pour cette connexion internet bloquent ce site.',
  blockedByLawTitle: 'Ce site est bloqué en application de la loi',
  blockedByLawText:
    'Votre fournisseur d’accès à internet est tenu de bloquer ce site pour tous ses ' +
    'clients. Vos réglages de filtrage n’y changent rien.',
  blockedForEverybodyTitle: 'Ce site est bloqué pour tout le monde',
  blockedForEverybodyText:
    'Votre fournisseur d’accès à internet bloque ce site pour tous ses clients. Vos ' +
    'réglages de filtrage n’y changent rien.',
  notBlockedTitle: 'Ce site n’est pas bloqué',
  notBlockedText:
    'Vos réglages de filtrage ne bloquent pas ce site actuellement. S’il vient d’être ' +
    'autorisé, votre appareil a peut-être gardé l’ancienne réponse en mémoire. Attendez ' +
    'une minute, puis réessayez.',
  noNameTitle: 'Voici la page des sites bloqués',
  noNameText: 'Cette page s’affiche à la place d’un site que vos réglages de filtrage bloquent.',
  notReadyTitle: 'Ce service démarre',
  notReadyText: 'Il ne connaît pas encore vos réglages. Veuillez réessayer dans une minute.',
  reasonLabel: 'Motif',
  reasonCategory: 'Catégorie bloquée',
  reasonApplication: 'Application bloquée',
  reasonList: 'Votre liste de sites bloqués',
  reasonGrant: 'Blocage temporaire',
  reasonAllowListOnly: 'Seuls les sites que vous avez autorisés peuvent être ouverts',
  authorityLabel: 'Sur décision de',
  referenceLabel: 'Référence',
  leadsToLabel: 'Redirige vers',
  scheduleLabel: 'Plage horaire',
  scheduleUntil: 'Ces réglages s’appliquent jusqu’à',
  scheduleFrom: 'Prochain changement de réglages',
  incidentLabel: 'Numéro d’incident',
  incidentHint:
    'Copiez le numéro d’incident si vous demandez de l’aide. Seul votre fournisseur peut le lire, pendant un jour.',
  advice: 'La personne qui gère les réglages de filtrage peut autoriser ce site.',
  tryAgain: 'Réessayer',
  helpLabel: 'Aide',
  privacy: 'Cette page n’utilise pas de cookies et ne charge rien depuis d’autres serveurs.',
};
