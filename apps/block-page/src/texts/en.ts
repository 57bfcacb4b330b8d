import type { Texts } from './texts.js';

export const en: Texts = {
  direction: 'ltr',
  blockedTitle: 'This site is blocked',
  blockedText: 'It is blocked by your own filter settings for this internet connection.',
  blockedByLawTitle: 'This site is blocked by law',
  blockedByLawText:
    'Your internet provider is required by law to block this site for all of its customers. ' +
    'Your filter settings cannot change this.',
  blockedForEverybodyTitle: 'This site is blocked for everybody',
  blockedForEverybodyText:
    'Your internet provider blocks this site for all of its customers. Your filter ' +
    'settings cannot change this.',
  notBlockedTitle: 'This site is not blocked',
  notBlockedText:
    'Your filter settings do not block this site now. If it was allowed a moment ago, your ' +
    'device may still remember the old answer. Wait a minute, then try again.',
  noNameTitle: 'This is the page for blocked sites',
  noNameText: 'You are seeing this page in place of a site that your filter settings block.',
  notReadyTitle: 'This service is starting',
  notReadyText: 'It does not know your settings yet. Please try again in a minute.',
  reasonLabel: 'Reason',
  reasonCategory: 'Blocked category',
  reasonApplication: 'Blocked application',
  reasonList: 'Your list of blocked sites',
  reasonGrant: 'Temporarily blocked',
  reasonAllowListOnly: 'Only sites that you have allowed can be opened',
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
