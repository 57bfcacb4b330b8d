import type { Texts } from './texts.js';

export const en: Texts = {
  direction: 'ltr',
  blocked: {
    title: 'This site is blocked',
    text: 'It is blocked by your own filter settings for this internet connection.',
  },
  blockedByLaw: {
    title: 'This site is blocked by law',
    text:
      'Your internet provider is required by law to block this site for all of its customers. ' +
      'Your filter settings cannot change this.',
  },
  blockedForEverybody: {
    title: 'This site is blocked for everybody',
    text:
      'Your internet provider blocks this site for all of its customers. Your filter ' +
      'settings cannot change this.',
  },
  notBlocked: {
    title: 'This site is not blocked',
    text:
      'Your filter settings do not block this site now. If it was allowed a moment ago, your ' +
      'device may still remember the old answer. Wait a minute, then try again.',
  },
  noName: {
    title: 'This is the page for blocked sites',
    text: 'You are seeing this page in place of a site that your filter settings block.',
  },
  notReady: {
    title: 'This service is starting',
    text: 'It does not know your settings yet. Please try again in a minute.',
  },
  reasonLabel: 'Reason',
  reason: {
    category: 'Blocked category',
    application: 'Blocked application',
    list: 'Your list of blocked sites',
    grant: 'Temporarily blocked',
    allowListOnly: 'Only sites that you have allowed can be opened',
  },
  authorityLabel: 'Ordered by',
  referenceLabel: 'Reference',
  leadsToLabel: 'Leads to',
  scheduleLabel: 'Schedule',
  scheduleUntil: 'These settings apply until',
  scheduleFrom: 'These settings change',
  incidentLabel: 'Incident number',
  incidentHint:
    'Copy the incident number if you ask for help. Only your provider can read it, for one day.',
  advice: 'The person who manages the filter settings can allow this site.',
  tryAgain: 'Try again',
  helpLabel: 'Help',
  privacy: 'This page sets no cookies and loads nothing from other servers.',
};
