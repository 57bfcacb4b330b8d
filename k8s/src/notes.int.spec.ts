import { describe, expect, it } from 'vitest';
import { renderNotes } from './testing/render.js';
import { ciValues, overlay } from './testing/values.js';

const notes = (name: string, more = {}): string => renderNotes(overlay(ciValues(name), more));

describe('the notes after an install', () => {
  it('show where the management API and its tokens are', () => {
    expect(notes('minimal')).toContain('http://weir-control-plane.dns.svc:8080');
    expect(notes('full')).toContain('https://filter-control-plane.dns.svc:443');
    expect(notes('minimal')).toContain('get secret weir');
    expect(notes('daemonset')).not.toContain('management API');
  });

  it('ask for a copy of the key that the chart generated', () => {
    expect(notes('trial')).toContain('KEEP A COPY of the Secret weir');
    expect(notes('minimal')).not.toContain('KEEP A COPY');
  });

  it('warn when BLOCK_PAGE_IPV4 is not set', () => {
    expect(notes('minimal')).toContain('resolver.env.BLOCK_PAGE_IPV4 is not set');
    expect(notes('trial')).not.toContain('BLOCK_PAGE_IPV4');
  });

  it('say that bundled stores are for trials', () => {
    expect(notes('trial')).toContain('are for trials');
    expect(notes('full')).not.toContain('are for trials');
  });

  it('tell which port of the nodes to close for a DaemonSet', () => {
    expect(notes('daemonset')).toContain('reach port 9153 of the nodes');
  });
});
