import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import { closeServer } from './platform/server-lifecycle.js';

/** Express as the management API needs it. */
export class ManagementAdapter extends ExpressAdapter {
  constructor() {
    const instance = express();
    instance.enable('case sensitive routing');
    instance.disable('x-powered-by');
    // Responses are never cached, so they need no ETag.
    instance.disable('etag');
    super(instance);
  }

  /** `app.close()` finishes the requests in progress. Nest would close idle connections with requests on their
   * way, and has no deadline. */
  override close(): Promise<void> {
    return closeServer(this.httpServer);
  }
}
