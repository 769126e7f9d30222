import type { startWhen as en } from './startWhen.en';

export const startWhen: Record<keyof typeof en, string> = {
  title: '何时开始',
  hint: '开始前没有到位的数据，在运行期间流式读取。',
  auto: '由 Atom 选择',
  data_there: '数据全部到位后',
  share: '数据部分到位后',
  now: '立即开始，流式读取',
  percent: '到位的部分（%）',
  startsIn: '{{time}}后开始',
  startsBetween: '{{from}}到{{to}}后开始',
  unknown: '开始时间未知',
  asked: '要求的开始方式',
  taken: '开始方式',
  shareOf: '{{percent, number}} % 的数据到位后',
  waits: '{{total}} 中的 {{present}} 已在 {{nodes}}',
  waitsFor: '{{total}} 中的 {{present}} 已在 {{nodes}}，大约还需{{time}}',
  choosing: '正在为其数据选择节点。',
  data: '开始前的数据',
  plans: '数据来自',
  plan: '预热计划',
  planNumber: '预热计划 {{number, number}}',
};
