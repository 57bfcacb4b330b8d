/** A back office: calls the management API with its token. */
export class ManagementClient {
  constructor(
    private readonly baseUrl: string,
    private readonly token: string,
  ) {}

  async call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; revision: number; applied: string | null; body: unknown }> {
    const response = await fetch(new URL(path, this.baseUrl), {
      method,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      revision: Number(response.headers.get('x-config-revision')),
      applied: response.headers.get('x-config-applied'),
      body: text === '' ? null : JSON.parse(text),
    };
  }
}
