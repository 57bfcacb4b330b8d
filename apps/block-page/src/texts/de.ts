import type { Texts } from './texts.js';

export const de: Texts = {
  direction: 'ltr',
  blockedTitle: 'Diese Website ist gesperrt',
  blockedText:
    'Ihre eigenen Filtereinstellungen für diesen Internetanschluss sperren diese Website.',
  blockedByLawTitle: 'Diese Website ist aus rechtlichen Gründen gesperrt',
  blockedByLawText:
    'Ihr Internetanbieter ist rechtlich verpflichtet, diese Website für alle Kunden zu ' +
    'sperren. Ihre Filtereinstellungen ändern daran nichts.',
  blockedForEverybodyTitle: 'Diese Website ist für alle gesperrt',
  blockedForEverybodyText:
    'Ihr Internetanbieter sperrt diese Website für alle Kunden. Ihre ' +
    'Filtereinstellungen ändern daran nichts.',
  notBlockedTitle: 'Diese Website ist nicht gesperrt',
  notBlockedText:
    'Ihre Filtereinstellungen sperren diese Website zurzeit nicht. Wurde sie gerade erst ' +
    'erlaubt, kennt Ihr Gerät vielleicht noch die alte Antwort. Warten Sie eine Minute und ' +
    'versuchen Sie es dann erneut.',
  noNameTitle: 'Dies ist die Seite für gesperrte Websites',
  noNameText: 'Sie sehen diese Seite anstelle einer Website, die Ihre Filtereinstellungen sperren.',
  notReadyTitle: 'Dieser Dienst startet gerade',
  notReadyText:
    'Er kennt Ihre Einstellungen noch nicht. Bitte versuchen Sie es in einer Minute erneut.',
  reasonLabel: 'Grund',
  reasonCategory: 'Gesperrte Kategorie',
  reasonApplication: 'Gesperrte App',
  reasonList: 'Ihre Liste gesperrter Websites',
  reasonGrant: 'Vorübergehend gesperrt',
  reasonAllowListOnly: 'Nur Websites, die Sie erlaubt haben, lassen sich öffnen',
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
