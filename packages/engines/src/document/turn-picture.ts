import type { Picture } from './draw-picture.ts';
import { sharp } from './sharp.ts';

export async function turnPicture(picture: Picture, degreesClockwise: 90 | 180 | 270): Promise<Picture> {
  const turned = sharp(picture.png)
    .rotate(degreesClockwise)
    .toColourspace('b-w')
    .png({ compressionLevel: 3 });
  const { data, info } = await turned.toBuffer({ resolveWithObject: true });
  return { png: data, width: info.width, height: info.height, dpi: picture.dpi };
}
