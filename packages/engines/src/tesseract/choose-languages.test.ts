import { describe, expect, test } from 'vitest';
import { chooseLanguages, requireLanguages } from './choose-languages.ts';

const INSTALLED = ['deu', 'eng', 'fra', 'osd'];

describe('languages of a page', () => {
  test('what_is_asked_for_and_installed_is_used_once_each_in_order', () => {
    expect(chooseLanguages(['fra', 'eng', 'fra'], INSTALLED)).toEqual(['fra', 'eng']);
  });

  test('nothing_asked_for_means_english_or_what_there_is', () => {
    expect(chooseLanguages([], INSTALLED)).toEqual(['eng']);
    expect(chooseLanguages([], ['osd', 'fra'])).toEqual(['fra']);
  });

  test('a_missing_language_is_named_with_what_is_installed', () => {
    expect(() => chooseLanguages(['eng', 'jpn'], INSTALLED)).toThrow(
      'language jpn is not installed; installed are deu, eng, fra',
    );
  });

  test('a_pool_whose_languages_are_missing_is_a_fault_of_its_settings', () => {
    expect(() => requireLanguages(['eng', 'fra'], INSTALLED)).not.toThrow();
    expect(() => requireLanguages(['xyz'], INSTALLED)).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringContaining('language xyz is not installed; installed are deu, eng, fra'),
      }),
    );
    expect(() => requireLanguages(['eng'], [])).toThrow('no language data');
  });

  test('orientation_data_is_no_language', () => {
    expect(() => chooseLanguages(['osd'], INSTALLED)).toThrow('osd is not installed');
    expect(() => chooseLanguages([], ['osd'])).toThrow('no language data');
  });
});
