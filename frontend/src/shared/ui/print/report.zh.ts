import type { Translation } from '@/i18n/types';
import type { report as english } from './report.en';

export const report: Translation<typeof english> = {
  print: '打印报告',
  origin: '项目 {{project}} · {{who}} 打印于 {{at}}',
  notWhole: '部分内容未能及时加载，报告中缺少这些内容。',
  result: '结果',
  registered: '已注册的模型',
};
