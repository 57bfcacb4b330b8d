import type { Texts } from './texts.js';

export const pl: Texts = {
  direction: 'ltr',
  blockedTitle: 'Ta strona jest zablokowana',
  blockedText: 'Tę stronę blokują Twoje własne ustawienia filtra dla tego łącza internetowego.',
  blockedByLawTitle: 'Ta strona jest zablokowana z mocy prawa',
  blockedByLawText:
    'Twój dostawca internetu musi blokować tę stronę wszystkim swoim klientom. Twoje ' +
    'ustawienia filtra nie mają na to wpływu.',
  blockedForEverybodyTitle: 'Ta strona jest zablokowana dla wszystkich',
  blockedForEverybodyText:
    'Twój dostawca internetu blokuje tę stronę wszystkim swoim klientom. Twoje ' +
    'ustawienia filtra nie mają na to wpływu.',
  notBlockedTitle: 'Ta strona nie jest zablokowana',
  notBlockedText:
    'Twoje ustawienia filtra nie blokują teraz tej strony. Jeśli właśnie na nią zezwolono, ' +
    'urządzenie może jeszcze pamiętać starą odpowiedź. Odczekaj minutę i spróbuj ponownie.',
  noNameTitle: 'To jest strona dla zablokowanych witryn',
  noNameText: 'Zastępuje ona stronę, którą blokują Twoje ustawienia filtra.',
  notReadyTitle: 'Ta usługa się uruchamia',
  notReadyText: 'Nie zna jeszcze Twoich ustawień. Spróbuj ponownie za minutę.',
  reasonLabel: 'Powód',
  reasonCategory: 'Zablokowana kategoria',
  reasonApplication: 'Zablokowana aplikacja',
  reasonList: 'Twoja lista zablokowanych stron',
  reasonGrant: 'Blokada tymczasowa',
  reasonAllowListOnly: 'Można otwierać tylko strony, na które zezwolono',
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
