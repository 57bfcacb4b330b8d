interface Fault {
  readonly loc: readonly string[];
  readonly msg: string;
}

/** The lines of the API's `detail`: a text, or a list of faults (decisions §1). @param otherwise where there is none */
export function reasonsOf(body: string, otherwise: string): string {
  try {
    const { detail, request_id: id } = JSON.parse(body) as {
      detail?: string | Fault[];
      request_id?: string;
    };
    if (Array.isArray(detail)) {
      return detail.map(({ loc: [, ...place], msg }) => lineOf(place, msg)).join('\n');
    }
    if (detail === undefined) return otherwise;
    return id === undefined ? detail : `${detail} (request ${id})`;
  } catch {
    return otherwise; // A proxy says it in HTML.
  }
}

/** @param place none: it is about the whole body */
function lineOf(place: readonly string[], msg: string): string {
  return place.length === 0 ? msg : `${place.join('.')}: ${msg}`;
}
