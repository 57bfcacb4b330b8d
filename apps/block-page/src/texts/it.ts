import type { Texts } from './texts.js';

export const it: Texts = {
  direction: 'ltr',
  blockedTitle: 'Questo sito è bloccato',
  blockedText:
    'Le tue impostazioni di filtro per questa connessione a internet bloccano questo sito.',
  blockedByLawTitle: 'Questo sito è bloccato per legge',
  blockedByLawText:
    'Il tuo operatore internet è tenuto a bloccare questo sito per tutti i suoi clienti. ' +
    'Le tue impostazioni di filtro non cambiano nulla.',
  blockedForEverybodyTitle: 'Questo sito è bloccato per tutti',
  blockedForEverybodyText:
    'Il tuo operatore internet blocca questo sito per tutti i suoi clienti. Le tue ' +
    'impostazioni di filtro non cambiano nulla.',
  notBlockedTitle: 'Questo sito non è bloccato',
  notBlockedText:
    'Al momento le tue impostazioni di filtro non bloccano questo sito. Se è stato appena ' +
    'consentito, il dispositivo potrebbe ricordare ancora la vecchia risposta. Attendi un ' +
    'minuto e riprova.',
  noNameTitle: 'Questa è la pagina dei siti bloccati',
  noNameText:
    'Questa pagina compare al posto di un sito bloccato dalle tue impostazioni di filtro.',
  notReadyTitle: 'Questo servizio si sta avviando',
  notReadyText: 'Non conosce ancora le tue impostazioni. Riprova tra un minuto.',
  reasonLabel: 'Motivo',
  reasonCategory: 'Categoria bloccata',
  reasonApplication: 'Applicazione bloccata',
  reasonList: 'Il tuo elenco di siti bloccati',
  reasonGrant: 'Blocco temporaneo',
  reasonAllowListOnly: 'Si possono aprire solo i siti che hai consentito',
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
