import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';

registerHooks({
  load(url, context, nextLoad) {
    if (url.includes('/@opentelemetry/')) writeSync(2, `loaded ${url}\n`);
    return nextLoad(url, context);
  },
});
