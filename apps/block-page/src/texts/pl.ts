import type { Texts } from './texts.js';

export const pl: Texts = {
  direction: 'ltr',
  blocked: {
    title: 'Ta strona jest zablokowana',
    text: 'Tę stronę blokują Twoje własne ustawienia filtra dla tego łącza internetowego.',
  },
  blockedByLaw: {
    title: 'Ta strona jest zablokowana z mocy prawa',
    text:
      'Twój dostawca internetu musi blokować tę stronę wszystkim swoim klientom. Twoje ' +
      'ustawienia filtra nie mają na to wpływu.',
  },
  blockedForEverybody: {
    title: 'Ta strona jest zablokowana dla wszystkich',
    text:
      'Twój dostawca internetu blokuje tę stronę wszystkim swoim klientom. Twoje ' +
      'ustawienia filtra nie mają na to wpływu.',
  },
  notBlocked: {
    title: 'Ta strona nie jest zablokowana',
    text:
      'Twoje ustawienia filtra nie blokują teraz tej strony. Jeśli właśnie na nią zezwolono, ' +
      'urządzenie może jeszcze pamiętać starą odpowiedź. Odczekaj minutę i spróbuj ponownie.',
  },
  noName: {
    title: 'To jest strona dla zablokowanych witryn',
    text: 'Zastępuje ona stronę, którą blokują Twoje ustawienia filtra.',
  },
  notReady: {
    title: 'Ta usługa się uruchamia',
    text: 'Nie zna jeszcze Twoich ustawień. Spróbuj ponownie za minutę.',
  },
  reasonLabel: 'Powód',
  reason: {
    category: 'Zablokowana kategoria',
    application: 'Zablokowana aplikacja',
    list: 'Twoja lista zablokowanych stron',
    grant: 'Blokada tymczasowa',
    allowListOnly: 'Można otwierać tylko strony, na które zezwolono',
  },
  authorityLabel: 'Organ',
  referenceLabel: 'Sygnatura',
  leadsToLabel: 'Prowadzi do',
  scheduleLabel: 'Harmonogram',
  scheduleUntil: 'Koniec obowiązywania tych ustawień',
  scheduleFrom: 'Następna zmiana ustawień',
  incidentLabel: 'Numer zdarzenia',
  incidentHint:
    'Skopiuj numer zdarzenia, jeśli prosisz o pomoc. Może go odczytać tylko Twój dostawca, przez jeden dzień.',
  advice: 'Osoba, która zarządza ustawieniami filtra, może zezwolić na tę stronę.',
  tryAgain: 'Spróbuj ponownie',
  helpLabel: 'Pomoc',
  privacy: 'Ta strona nie używa plików cookie i nie pobiera niczego z innych serwerów.',
};
