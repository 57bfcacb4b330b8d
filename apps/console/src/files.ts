/** A table as CSV (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe before it. */
export function csvOf(rows: readonly (readonly (string | number | null)[])[]): string {
  const cell = (value: string | number | null): string => {
    const text = typeof value === 'string' && /^[=+\-@]/.test(value) ? `'${value}` : value;
    return `"${String(text ?? '').replaceAll('"', '""')}"`;
  };
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

export function download(name: string, type: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/**
 * Sends a file in place of `fetch`, which does not tell how much of a body it has sent.
 * @param onProgress gets the part that was sent, 0 to 1.
 */
export function uploadOf(
  file: File,
  onProgress: (sent: number) => void,
): (request: Request) => Promise<Response> {
  return (request) =>
    new Promise((resolve, reject) => {
      const call = new XMLHttpRequest();
      call.open(request.method, request.url);
      for (const [name, value] of request.headers) call.setRequestHeader(name, value);
      call.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
      call.upload.onload = () => onProgress(1);
      call.onload = () => resolve(responseOf(call));
      call.onerror = () => reject(new TypeError('network error'));
      call.onabort = call.onerror;
      request.signal.addEventListener('abort', () => call.abort());
      call.send(file);
    });
}

function responseOf(call: XMLHttpRequest): Response {
  const { status, responseText: text } = call;
  const lines = call.getAllResponseHeaders().trim().split('\r\n');
  const headers = lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]);
  return new Response(text === '' ? null : text, { status, headers });
}
