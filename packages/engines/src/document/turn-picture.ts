import type { Picture } from './draw-picture.ts';
import { asGreyPng, sharp } from './sharp.ts';

export async function turnPicture(picture: Picture, degreesClockwise: 90 | 180 | 270): Promise<Picture> {
  const turned = asGreyPng(sharp(picture.png).rotate(degreesClockwise));
  const { data, info } = await turned.toBuffer({ resolveWithObject: true });
  return { png: data, width: info.width, height: info.height, dpi: picture.dpi };
}
