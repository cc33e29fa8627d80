import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sniffKind } from './sniff-kind.ts';

describe('what the bytes are, by content (issue 2: wrong Content-Type with good content)', () => {
  test.each([
    ['png', '89504e470d0a1a0a0000'],
    ['jpeg', 'ffd8ffe000104a46'],
    ['tiff', '49492a0008000000'],
    ['tiff', '4d4d002a00000008'],
    ['tiff', '49492b0008000000'],
    ['webp', '524946461a00000057454250565038'],
    ['pdf', '255044462d312e37'],
  ])('%s_is_known_by_its_magic_bytes', (kind, hex) => {
    expect(sniffKind(Buffer.from(hex, 'hex'))).toBe(kind);
  });

  test('a_pdf_header_may_stand_anywhere_within_the_first_1024_bytes', () => {
    const junk = (length: number) => Buffer.concat([Buffer.alloc(length, 'x'), Buffer.from('%PDF-1.4\n')]);
    expect(sniffKind(junk(1023))).toBe('pdf');
    expect(sniffKind(junk(1024))).toBeNull();
  });

  test.each(['', 'P', '<!DOCTYPE html><html>', 'PK\u0003\u0004word/', 'RIFF....WAVE', 'II'])(
    '%j_is_nothing_we_read',
    (text) => {
      expect(sniffKind(Buffer.from(text))).toBeNull();
    },
  );

  test('any_bytes_at_all_get_an_answer', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => sniffKind(bytes) !== undefined));
  });
});
