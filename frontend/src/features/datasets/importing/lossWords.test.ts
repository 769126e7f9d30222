import i18n from 'i18next';
import { beforeEach, expect, test } from 'vitest';
import { setLanguage } from '@/i18n';
import { createLossWords, shareText } from './lossWords';
import { sayReason } from './reasons';
import fixtures from './reports.fixture.json';
import './words';

type Report = Parameters<ReturnType<typeof createLossWords>['effects']>[0];
const words = () => createLossWords(i18n.t);
/** The command line writes class names as Python does. */
const asPython = (text: string) => text.replace(/[“”]/g, "'");

beforeEach(() => setLanguage('en'));

test.each(fixtures.map(({ report, loss_text: text }) => [report.source, report, text] as const))(
  'the sentences about %s are those of the command line',
  (_, given, text) => {
    const report = given as unknown as Report;
    const { effects, gaps, nearMisses, losses } = words();
    expect(effects(report)).toEqual(report.losses.effects);
    const misses = nearMisses(report).map(({ names, reason }) => `Not understood: ${names}: ${reason}`);
    expect([...misses, ...gaps(report)]).toEqual(report.losses.coverage);
    expect(asPython(losses(report.losses.above))).toBe(text);
  },
);

test('shares have three digits, and a small one never reads as none', () => {
  expect([0.025, 0.00645, 1, 1 / 3, 0.0000012].map(shareText)).toEqual([
    '2.5 %',
    '0.645 %',
    '100 %',
    '33.3 %',
    '0.00012 %',
  ]);
});

test('every effect and reason is said in Chinese, too', async () => {
  await setLanguage('zh');
  const report = fixtures[1]?.report as unknown as Report;
  const { effects, gaps, losses } = words();
  for (const line of [...effects(report), ...gaps(report), losses(report.losses.above)])
    expect(line.replace(/images\/\S+|train\.txt|[“”].*?[“”]/g, '')).not.toMatch(/[a-z]{3}/);
  expect(sayReason('a box has no area')).toBe('框没有面积');
  expect(sayReason('something else')).toBe('something else');
});

test('reasons that name options of the command line name fields of the form', () => {
  expect(sayReason('an annotation of VOC was found and not read: --format voc reads it')).not.toContain('--');
});
