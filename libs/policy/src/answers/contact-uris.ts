/** The URI of an address at which subscribers get help: an `https://` or `http://` URL, or an e-mail address. */
export function supportUri(support: string): string {
  return /^https?:\/\//i.test(support) ? support : `mailto:${support}`;
}

export function phoneUri(phone: string): string {
  return `tel:${phone.replace(/[^+\d]/g, '')}`;
}

export function contactUris(support: string | undefined, phone: string | undefined): string[] {
  return [
    ...(support === undefined ? [] : [supportUri(support)]),
    ...(phone === undefined ? [] : [phoneUri(phone)]),
  ];
}
