import type { Texts } from './texts.js';

export const de: Texts = {
  direction: 'ltr',
  blocked: {
    title: 'Diese Website ist gesperrt',
    text: 'Ihre eigenen Filtereinstellungen für diesen Internetanschluss sperren diese Website.',
  },
  blockedByLaw: {
    title: 'Diese Website ist aus rechtlichen Gründen gesperrt',
    text:
      'Ihr Internetanbieter ist rechtlich verpflichtet, diese Website für alle Kunden zu ' +
      'sperren. Ihre Filtereinstellungen ändern daran nichts.',
  },
  blockedForEverybody: {
    title: 'Diese Website ist für alle gesperrt',
    text:
      'Ihr Internetanbieter sperrt diese Website für alle Kunden. Ihre ' +
      'Filtereinstellungen ändern daran nichts.',
  },
  notBlocked: {
    title: 'Diese Website ist nicht gesperrt',
    text:
      'Ihre Filtereinstellungen sperren diese Website zurzeit nicht. Wurde sie gerade erst ' +
      'erlaubt, kennt Ihr Gerät vielleicht noch die alte Antwort. Warten Sie eine Minute und ' +
      'versuchen Sie es dann erneut.',
  },
  noName: {
    title: 'Dies ist die Seite für gesperrte Websites',
    text: 'Sie sehen diese Seite anstelle einer Website, die Ihre Filtereinstellungen sperren.',
  },
  notReady: {
    title: 'Dieser Dienst startet gerade',
    text: 'Er kennt Ihre Einstellungen noch nicht. Bitte versuchen Sie es in einer Minute erneut.',
  },
  reasonLabel: 'Grund',
  reason: {
    category: 'Gesperrte Kategorie',
    application: 'Gesperrte App',
    list: 'Ihre Liste gesperrter Websites',
    grant: 'Vorübergehend gesperrt',
    allowListOnly: 'Nur Websites, die Sie erlaubt haben, lassen sich öffnen',
  },
  authorityLabel: 'Angeordnet von',
  referenceLabel: 'Aktenzeichen',
  leadsToLabel: 'Verweist auf',
  scheduleLabel: 'Zeitplan',
  scheduleUntil: 'Diese Einstellungen gelten bis',
  scheduleFrom: 'Nächster Wechsel der Einstellungen',
  incidentLabel: 'Vorgangsnummer',
  incidentHint:
    'Kopieren Sie die Vorgangsnummer, wenn Sie um Hilfe bitten. Nur Ihr Anbieter kann sie ' +
    'auswerten, und nur einen Tag lang.',
  advice: 'Wer die Filtereinstellungen verwaltet, kann diese Website erlauben.',
  tryAgain: 'Erneut versuchen',
  helpLabel: 'Hilfe',
  privacy: 'Diese Seite setzt keine Cookies und lädt nichts von anderen Servern.',
};
