/** A white picture with the words `one page`, 240 × 60, drawn for this purpose: the smallest honest page. */
const PNG_BASE64 = [
  'iVBORw0KGgoAAAANSUhEUgAAAPAAAAA8AQMAAABisaUeAAAABlBMVEX///8mJiZ40e/1AAAACXBIWXMAAAsTAAALEwEAmpwYAAABB0lEQVQ4y+3TP27D',
  'IBQG8I+60tt4PoCFr9DRQ1RfyWOGKCbtkGthde8ZiLpHjB6sUIgrtZDGeyu/AQl+A9/jD7DWWv+jhHtQYIPHDVrQC3Yp00S9bi2kF97UZ+FT5gt5',
  '049gf/C2vRReJ6yYBuMa8OsA2ygqTMIbIm1tBRYGXaekSLkhwslUkFeWEjkfZ4ad2aZcBPZT5N5ZWft7fPLLbLrI5pbDksSH7pxU2aHO0b44RsNN',
  'Yzbsx+JNx74zrvib3VZxxkoF3oZTOx4G97wnnUbjKXA7Xa/E1eciS05j4HqE3MN3/I7sxhCnIiQvUcb85e+vRv4Y73K1yE+7RW7HRa7d+nX/dH0C',
  'HdZ09hY97JoAAAAASUVORK5CYII=',
].join('');

/** The page a refusing pod has to read before it gets the pages of others again. */
export function trialPage(): Buffer {
  return Buffer.from(PNG_BASE64, 'base64');
}
