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
