import type * as en from './table.en';
import type { Translation } from './types';

export const table: Translation<typeof en.table> = {
  label: '表格',
  row: '行',
  types: { integer: '整数', number: '数值', boolean: '真假值', time: '时间', text: '文本' },
  more: '再显示 {{count, number}} 项',
  rows_other: '{{count, number}} 行',
  columns_other: '{{count, number}} 列',
  groups_other: '{{count, number}} 个行组',
  onlyColumns: '仅显示各列',
  cut: '仅显示最前面的行和列，完整内容请下载文件。',
  reasons: {
    broken: '文件已损坏，或与其结尾的描述不符：无法读取其中的行。',
    busy: '服务器正在读取其他文件，请稍后再打开。',
    cut: '文件不完整：说明内容的结尾部分缺失或过短。',
    encrypted: '文件已加密。',
    heavy: '读取最前面的行所需的内存或时间超出预览的限制，请下载后打开。',
    not_parquet: '无论文件名如何，此文件不是 Parquet 文件。',
  },
  atSource: '文件保留在其数据源中。仅存放在此处的文件可以预览。',
};
