import { StartError } from '@weir/ops';
import { phoneUri, supportUri } from '@weir/policy/answers';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { BlockPageConfiguration } from '../configuration.js';

/**
 * Black or white, whichever has more contrast with the colour (WCAG 2.2, contrast ratio). It is at least 4.5:1.
 * @param colour `#rrggbb`
 */
export function contrastingColour(colour: string): '#000000' | '#ffffff' {
  const luminance = relativeLuminance(colour);
  const [withWhite, withBlack] = [1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05];
  return withWhite >= withBlack ? '#ffffff' : '#000000';
}

/** WCAG 2.2, relative luminance. */
function relativeLuminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export interface Brand {
  readonly name: string | undefined;
  /** The image as a data URI. */
  readonly logo: string | undefined;
  /** `#rrggbb` */
  readonly colour: string;
  /** The text colour on it. */
  readonly onColour: string;
  /** Where subscribers get help: the target of a link and its text. */
  readonly support: Link | undefined;
  readonly phone: Link | undefined;
}

export interface Link {
  readonly href: string;
  readonly text: string;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
};
/** Small, because it is sent with every page. */
const MAX_LOGO_BYTES = 256 * 1024;

type BrandConfiguration = Pick<
  BlockPageConfiguration,
  Extract<keyof BlockPageConfiguration, `BLOCK_PAGE_BRAND_${string}`>
>;

/** @throws StartError when the logo cannot be read. */
export function readBrand(configuration: BrandConfiguration): Brand {
  const colour = configuration.BLOCK_PAGE_BRAND_COLOR;
  return {
    name: configuration.BLOCK_PAGE_BRAND_NAME,
    logo: readLogo(configuration.BLOCK_PAGE_BRAND_LOGO),
    colour,
    onColour: contrastingColour(colour),
    support: supportLink(configuration.BLOCK_PAGE_BRAND_SUPPORT),
    phone: phoneLink(configuration.BLOCK_PAGE_BRAND_PHONE),
  };
}

function readLogo(logo: string | undefined): string | undefined {
  if (logo === undefined || logo.startsWith('data:')) return logo;
  const mediaType = MEDIA_TYPES[extname(logo).toLowerCase()];
  if (mediaType === undefined) {
    const known = Object.keys(MEDIA_TYPES).join(', ');
    throw new StartError(`BLOCK_PAGE_BRAND_LOGO must name a file that ends with one of ${known}`);
  }
  let bytes: Buffer;
  try {
    bytes = readFileSync(logo);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const problem = `BLOCK_PAGE_BRAND_LOGO names a file that cannot be read: ${logo} (${code})`;
    throw new StartError(problem, { cause });
  }
  if (bytes.length > MAX_LOGO_BYTES) {
    throw new StartError(
      `BLOCK_PAGE_BRAND_LOGO names a file of ${bytes.length} bytes: ${MAX_LOGO_BYTES} is the most`,
    );
  }
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}

function supportLink(support: string | undefined): Link | undefined {
  if (support === undefined) return undefined;
  const href = supportUri(support);
  return { href, text: href === support ? support.replace(/^https?:\/\/|\/$/gi, '') : support };
}

function phoneLink(phone: string | undefined): Link | undefined {
  return phone === undefined ? undefined : { href: phoneUri(phone), text: phone };
}
