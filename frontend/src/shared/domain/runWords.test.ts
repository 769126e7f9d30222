import { readFileSync } from 'node:fs';
import i18next, { type TFunction } from 'i18next';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RunEvent } from '@/api/contract/jobs';
import en from '@/i18n/en';
import zh from '@/i18n/zh';
import { createFormat } from '../ui/format';
import { createWords } from './runWords';

const schema = readFileSync('../docs/openapi.yaml', 'utf8');

/** The values of an enumeration of the API. */
function valuesOf(name: string): string[] {
  const block = schema.split(`\n    ${name}:\n      enum:\n`)[1] ?? '';
  const values = [...(block.split('      type:')[0] ?? '').matchAll(/^ {6}- (\S+)$/gm)].map(
    (match) => match[1] as string,
  );
  if (values.length === 0) throw new Error(`The schema has no ${name}`);
  return values;
}

const languages = { en, zh };
type Language = keyof typeof languages;
const words = (language: Language) =>
  createWords(i18next.getFixedT(language) as TFunction, createFormat(language), language);

beforeAll(async () => {
  const resources = { en: { translation: en }, zh: { translation: zh } };
  await i18next.init({ lng: 'en', resources, interpolation: { escapeValue: false } });
});

describe.each(['en', 'zh'] as const)('in %s', (language) => {
  const { jobs, runs, states } = languages[language];

  test.each([
    ['RunFailureCodeEnum', jobs.failure],
    ['FailureClassEnum', jobs.failureClass],
    // An event about RDMA carries the sentence of its cluster.
    ['RunEventKindEnum', { ...jobs.event, data_gate: '', rdma_off: '' }],
    ['PlacementCodeEnum', jobs.placement],
    ['ExplanationCodeEnum', runs.answer],
    ['PhaseEnum', runs.phase],
    ['RunStateEnum', states],
    ['RuntimeStateEnum', states],
    ['ArtifactStateEnum', states],
  ])('every value of %s has words', (name, texts) => {
    const said = Object.keys(texts).map((key) => key.replace(/_other$/, ''));
    expect(said).toEqual(expect.arrayContaining(valuesOf(name)));
  });

  test('every kind of reason has words, or is said by the placement’s, the failure’s or the cluster’s', () => {
    const said = [
      // A run on several nodes waits for its turn, or for the rest of its nodes.
      ...Object.keys(jobs.reason).map((key) => key.replace(/_other$|(?<=^gang)_(?:turn|forming)$/, '')),
      'resources',
      'machines',
      'placement',
      'failed',
      'rdma_off',
      'data_trouble',
    ];
    expect(said).toEqual(expect.arrayContaining(valuesOf('ReasonKindEnum')));
  });
});

const event = (kind: string, data: object): RunEvent =>
  ({ seq: 1, at: '', attempt: 1, text: 'As the server says.', kind, data }) as RunEvent;

test('a failure is said in the reader’s language with what it names', () => {
  const failed = {
    failure: { code: 'out_of_memory', params: { memory_bytes: 2 ** 30, enough_bytes: 2 ** 31 } },
    failure_reason: 'The job needed more memory…',
  } as const;
  expect(words('zh').failure(failed)).toBe('任务所需内存超过上限 1 GiB，已被停止。');
  expect(words('en').failure(failed)).toBe('The job needed more memory than its limit of 1 GiB and was stopped.');
});

test('an unknown code, or one without what its sentence names, is said as the server says it', () => {
  const failed = { failure: { code: 'struck_by_lightning', params: {} }, failure_reason: 'Lightning struck.' };
  expect(words('zh').failure(failed as never)).toBe('Lightning struck.');
  expect(words('zh').event(event('checkpoint', { step: 3 }))).toBe('As the server says.');
  expect(words('zh').event(event('struck', {}))).toBe('As the server says.');
});

test('the end of an attempt is said by how it ended', () => {
  const { event: say } = words('zh');
  expect(say(event('ended', { reason: 'exited', exit_code: 0 }))).toBe('命令以退出码 0 结束。');
  expect(say(event('ended', { reason: 'cancelled', exit_code: 0 }))).toBe('运行已取消，命令被停止。');
  expect(say(event('ended', { code: 'node_lost', params: { node: 'vm' } }))).toContain('机器 vm 停止响应');
});

test('a mounted folder of one file is said in the singular', () => {
  const { event: say } = words('en');
  const mounted = { alias: 'data', how: 'erofs' };
  expect(say(event('mounted', { ...mounted, files: 1 }))).toBe('data is a folder of 1 file, mounted by erofs.');
  expect(say(event('mounted', { ...mounted, files: 1200 }))).toBe('data is a folder of 1,200 files, mounted by erofs.');
});

test('a mounted folder with links says how many there are and how many are left out', () => {
  const mounted = { alias: 'data', how: 'erofs', files: 3, links: 7, links_left_out: 2 };
  expect(words('en').event(event('mounted', mounted))).toBe(
    'data is a folder of 3 files, mounted by erofs. Links in it: 7; left out, because they lead out of the version: 2.',
  );
  expect(words('zh').event(event('mounted', mounted))).toContain('因指向版本之外而略去：2 个');
});

test('a placement names what each machine lacks', () => {
  const placement = {
    code: 'no_room',
    params: {
      cpus: 99,
      memory_bytes: 2 ** 30,
      gpus: 0,
      nodes: [{ node: 'vm', usable: true, cpus: 97, memory_bytes: 0, gpus: 0 }],
    },
    why: '',
  } as const;
  expect(words('zh').placement(placement)).toBe('等待 99 个 CPU、1 GiB 内存：vm 缺少 97 个 CPU。');
  expect(words('en').placement(placement)).toBe('Waiting for 99 CPUs, 1 GiB of memory: vm lacks 97 CPUs.');
});

test('doubts about a running run name its node and since when it is silent', () => {
  const silent = { kind: 'silent', text: '', action: 'x', params: { silent_s: 90, node: 'n1' } } as const;
  expect(words('en').reason(silent)).toContain('on the ready node n1');
  expect(words('zh').reason(silent)).toContain('n1');
  expect(words('en').action(silent)).toContain('Check that the pod reaches Atom');
});

test('a wait in a cluster is said as the server says it where its code is not known', () => {
  const sentence = { code: 'jobs.unheard_of', params: {} };
  const params = { cluster: 'west', said: 'It waits for free quota', sentence, suggestion: sentence };
  const reason = { kind: 'cluster', text: '', action: 'Wait.', params } as const;
  expect(words('en').reason(reason)).toBe('west: It waits for free quota');
  expect(words('zh').action(reason)).toBe('Wait.');
});
