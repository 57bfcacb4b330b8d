import type { Texts } from './en.js';

export const de: Texts = {
  // Frame
  'frame.skip': 'Zum Inhalt springen',
  'frame.pages': 'Seiten',
  'frame.language': 'Sprache',
  'frame.theme': 'Darstellung',
  'frame.theme.system': 'Wie das System',
  'frame.theme.light': 'Hell',
  'frame.theme.dark': 'Dunkel',
  'frame.signedInAs': 'Token {name}, Berechtigung {scope}',
  'frame.signOut': 'Abmelden',
  'frame.notFound': 'Diese Seite gibt es nicht.',
  'page.resolvers': 'Resolver',

  // Sign-in
  'signIn.title': 'Anmelden',
  'signIn.token': 'Token',
  'signIn.hint':
    'Ein Token der Management-API. Er bleibt in diesem Tab, bis der Tab geschlossen wird.',
  'signIn.submit': 'Anmelden',
  'signIn.ended':
    'Der Token wird nicht mehr angenommen: Er ist abgelaufen oder wurde zurückgezogen. Bitte neu anmelden.',
  'signIn.refused': 'Der Token wird nicht angenommen.',

  // What went wrong
  'error.unreachable': 'Die Control Plane ist nicht erreichbar.',
  'error.forbidden': 'Das wird abgelehnt.',
  'error.notFound': 'Das gibt es nicht.',
  'error.conflict': 'Das widerspricht etwas, das es schon gibt.',
  'error.invalid': 'Etwas in diesem Formular stimmt nicht.',
  'error.tooMany': 'Es gibt zu viele Aufrufe mit diesem Token. Bitte gleich noch einmal versuchen.',
  'error.unavailable':
    'Die Control Plane kann das gerade nicht. Es wurde nichts geändert. Bitte noch einmal versuchen.',
  'error.unknownOutcome':
    'Es ist nicht bekannt, ob das ausgeführt wurde. Bitte nachsehen, bevor es wiederholt wird.',
  'error.unexpected': 'Das ist fehlgeschlagen.',
  'error.retry': 'Noch einmal versuchen',
  'error.request': 'Anfrage {id}',

  // In several places
  'common.loading': 'Wird geladen …',
  'common.applied': 'Auf {applied} Resolvern in Kraft, als Revision {revision}.',
  'common.appliedPartly':
    'Bisher auf {applied} Resolvern in Kraft, als Revision {revision}. Die übrigen folgen von selbst.',

  // Resolvers
  'resolvers.none': 'Es läuft kein Resolver.',
  'resolvers.allLive': '{live} von {all} Resolvern sind auf dem aktuellen Stand.',
  'resolvers.someLive': 'Nur {live} von {all} Resolvern sind auf dem aktuellen Stand.',
  'resolvers.name': 'Resolver',
  'resolvers.state': 'Zustand',
  'resolvers.state.live': 'Aktuell',
  'resolvers.state.catching_up': 'Holt auf',
  'resolvers.state.missing': 'Fehlt',
  'resolvers.revision': 'Revision',
  'resolvers.lag': 'Rückstand',
  'resolvers.behind': '{seconds} s, {revisions} Änderungen',
  'resolvers.answers': 'Antworten je Sekunde',
  'resolvers.hits': 'Cache-Treffer',
  'resolvers.blocked': 'Gesperrt',
  'resolvers.upstreams': 'Upstreams',
  'resolvers.up': '{count} erreichbar',
  'resolvers.down': 'Ausgefallen: {addresses}',
  'resolvers.catalogue': 'Katalog',
  'resolvers.seen': 'Zuletzt gesehen',
};
