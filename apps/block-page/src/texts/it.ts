import type { Texts } from './texts.js';

export const it: Texts = {
  direction: 'ltr',
  blocked: {
    title: 'Questo sito è bloccato',
    text: 'Le tue impostazioni di filtro per questa connessione a internet bloccano questo sito.',
  },
  blockedByLaw: {
    title: 'Questo sito è bloccato per legge',
    text:
      'Il tuo operatore internet è tenuto a bloccare questo sito per tutti i suoi clienti. ' +
      'Le tue impostazioni di filtro non cambiano nulla.',
  },
  blockedForEverybody: {
    title: 'Questo sito è bloccato per tutti',
    text:
      'Il tuo operatore internet blocca questo sito per tutti i suoi clienti. Le tue ' +
      'impostazioni di filtro non cambiano nulla.',
  },
  notBlocked: {
    title: 'Questo sito non è bloccato',
    text:
      'Al momento le tue impostazioni di filtro non bloccano questo sito. Se è stato appena ' +
      'consentito, il dispositivo potrebbe ricordare ancora la vecchia risposta. Attendi un ' +
      'minuto e riprova.',
  },
  noName: {
    title: 'Questa è la pagina dei siti bloccati',
    text: 'Questa pagina compare al posto di un sito bloccato dalle tue impostazioni di filtro.',
  },
  notReady: {
    title: 'Questo servizio si sta avviando',
    text: 'Non conosce ancora le tue impostazioni. Riprova tra un minuto.',
  },
  reasonLabel: 'Motivo',
  reason: {
    category: 'Categoria bloccata',
    application: 'Applicazione bloccata',
    list: 'Il tuo elenco di siti bloccati',
    grant: 'Blocco temporaneo',
    allowListOnly: 'Si possono aprire solo i siti che hai consentito',
  },
  authorityLabel: 'Disposto da',
  referenceLabel: 'Riferimento',
  leadsToLabel: 'Rimanda a',
  scheduleLabel: 'Programmazione',
  scheduleUntil: 'Queste impostazioni valgono fino a',
  scheduleFrom: 'Prossimo cambio delle impostazioni',
  incidentLabel: 'Numero di segnalazione',
  incidentHint:
    'Copi il numero di segnalazione se chiede assistenza. Solo il Suo fornitore può leggerlo, per un giorno.',
  advice: 'Chi gestisce le impostazioni di filtro può consentire questo sito.',
  tryAgain: 'Riprova',
  helpLabel: 'Assistenza',
  privacy: 'Questa pagina non usa cookie e non carica nulla da altri server.',
};
