import type { Translation } from '@/i18n/types';
import type { predictions as en } from './predictions.en';

export const predictions: Translation<typeof en> = {
  title: '预测结果',
  see: '查看错误',
  missing: '该运行没有逐个文件的预测：请重新评估模型',
  none: '没有匹配的文件',
  measuredObjects_other: '划分 {{split}} 的 {{count, number}} 个对象和检测',
  measured_other: '划分 {{split}} 的 {{count, number}} 个文件',
  kept: '（保留其中 {{count, number}} 个：错误的和最不确定的）',
  true: '标注',
  predicted: '模型判断',
  any: '任意',
  order: '排序',
  surest: '最确定的在前',
  leastSure: '最不确定的在前',
  which: '显示哪些预测',
  mistakes: '错误',
  all: '全部',
  total_other: '{{count, number}} 个文件',
  labelAgain_other: '重新标注这 {{count, number}} 个',
  openDataset: '在数据集中打开',
  taskName: '{{dataset}}：重新标注 {{names}}',
  takenFor: '{{truth}} 被判为 {{predicted}}',
  rightly: '{{truth}}',
};
