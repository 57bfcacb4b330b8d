import type { ManagementClient } from '../deployment/management-client.js';

type Call = readonly [method: string, path: string, body?: unknown];

const weekday = (day: string, start: string, end: string): unknown => ({
  start: { day, time: start },
  end: { day, time: end },
});
const napt = (lower: number, upper: number): unknown => ({
  ip: '192.0.2.100',
  lower_port_bound: lower,
  upper_port_bound: upper,
  profile_id: 2,
});

/** Calls that create entities of every kind. */
export const CREATE_CALLS: readonly Call[] = [
  ['POST', '/blockpage/', { id: 1, type: 0 }],
  ['POST', '/blockpage/', { id: 2, type: 1 }],
  ['POST', '/profiles/', { profile: { id: 1, page_id: 1 }, cat_ids: [12, 40] }],
  ['POST', '/profiles/', { profile: { id: 2, page_id: 2, white_list_only: true } }],
  ['POST', '/profiles/', { profile: { id: 3, empty_dns_answer: true } }],
  ['POST', '/profile/1/app_aware', { app_id: 3, status: 'allow' }],
  ['POST', '/profile/1/bw_list', { type: 'deny', domain: 'blocked.example.com' }],
  ['POST', '/profile/2/bw_list', { type: 'allow', domain: 'good.example.com' }],
  ['POST', '/net/', { ip: '192.0.2.1', profile_id: 1 }],
  ['POST', '/net/', { ip: '198.51.100.7', prefix_len: 24, profile_id: 2 }],
  ['POST', '/net6/', { ip: '2001:db8::7', prefix_len: 48, profile_id: 1 }],
  ['POST', '/napt/', napt(0, 1_023)],
  [
    'POST',
    '/profile/1/schedule',
    { target_profile_id: 2, periods: [weekday('monday', '08:00', '16:00')] },
  ],
];

/** Calls that change, move and delete entities of every kind. A batch is one change with several operations. */
export const CHANGE_CALLS: readonly Call[] = [
  ['PATCH', '/blockpage/2', { type: 0 }],
  ['POST', '/blockpage/', { id: 3, type: 1 }],
  ['DELETE', '/blockpage/3'],
  ['PATCH', '/profiles/1', { cat_ids: [12], profile: { appaware_priority_over_bwlists: true } }],
  ['DELETE', '/profile/1/app_aware/3'],
  ['POST', '/profile/1/bw_list/batch', { type: 'deny', domains: ['a.example', 'b.example'] }],
  ['PATCH', '/profile/1/bw_list/blocked.example.com', { type: 'allow' }],
  ['DELETE', '/profile/1/bw_list/a.example'],
  ['PATCH', '/net/3221225985', { ip: '192.0.2.2' }],
  ['PATCH', '/net6/2001:db8::7', { prefix_len: 56 }],
  ['POST', '/napt/batch', [napt(2_000, 2_999), napt(3_000, 3_999)]],
  ['DELETE', '/napt/3221226084/0/1023'],
  ['PATCH', '/profile/1/schedule', { periods: [] }],
  ['POST', '/profile/2/schedule', { target_profile_id: 3, periods: [] }],
  ['DELETE', '/profile/1/schedule'],
];

/** A call that replaces everything. */
export const REPLACE_CALLS: readonly Call[] = [
  [
    'POST',
    '/init/',
    {
      blockpages: [{ id: 9, type: 1 }],
      profiles: [{ profile: { id: 9, page_id: 9 }, cat_ids: [12] }],
      bw_lists: [{ profile_id: 9, type: 'deny', domains: ['blocked.example.net'] }],
      napts: [],
      nets: [{ ip: '192.0.2.9', profile_id: 9 }],
      nets6: [],
    },
  ],
];

/** Makes the calls one after the other. @throws Error when one is refused. */
export async function makeCalls(client: ManagementClient, calls: readonly Call[]): Promise<void> {
  for (const [method, path, body] of calls) {
    const reply = await client.call(method, path, body);
    const outcome = reply.status ?? reply.reason;
    if (typeof outcome === 'string' || outcome >= 300) {
      const text = reply.status === null ? '' : reply.text;
      throw new Error(`${method} ${path}: ${outcome} ${text}`);
    }
  }
}
