import { effect } from '@preact/signals';
import { setting } from './setting.js';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const theme = setting<Theme>('theme', THEMES, 'system');

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});
