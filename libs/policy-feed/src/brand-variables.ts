import { matching, optional } from '@weir/ops';

const MAX_NAME_LENGTH = 100;
const SUPPORT = /^(?:https?:\/\/[^\s"<>]+|[^\s@"<>:]+@[^\s@"<>:]+)$/i;
const PHONE = /^(?=.*\d)\+?[\d ()/.-]{3,40}$/;

/** The provider, as subscribers see it: on block pages, and in structured errors of resolvers. */
export const BRAND_VARIABLES = {
  BLOCK_PAGE_BRAND_NAME: optional(
    matching(/^[^\p{Cc}]+$/u, MAX_NAME_LENGTH, 'a name of at most 100 characters', {
      description: 'Name of the provider, on the built-in page and in structured errors.',
    }),
  ),
  BLOCK_PAGE_BRAND_SUPPORT: optional(
    matching(SUPPORT, 300, 'an e-mail address, or a URL that begins with https:// or http://', {
      description: 'Where subscribers get help.',
    }),
  ),
  BLOCK_PAGE_BRAND_PHONE: optional(
    matching(PHONE, 40, 'a phone number such as +44 20 7946 0000', {
      description: 'Phone number at which subscribers get help.',
    }),
  ),
} as const;
