import type { Translation } from '@/i18n/types';
import type { views as english } from './views.en';

export const views: Translation<typeof english> = {
  title: '视图',
  save: '保存为视图…',
  saveTitle: '保存为视图',
  saveSubmit: '保存',
  saved: '已保存视图 {{name}}',
  name: '名称',
  nameHint: '小写字母、数字、点、连字符和下划线',
  nameInvalid: '请使用小写字母、数字、点、连字符和下划线，最多 63 个，以字母或数字开头和结尾。',
  asks: '条件',
  below: '位于 {{folder}} 之下',
  applied: '视图：{{name}}',
  apply: '显示视图 {{name}} 中的文件',
  leave: '退出视图 {{name}}',
  rename: '重命名视图 {{name}}',
  renameTitle: '重命名 {{name}}',
  renameSubmit: '重命名',
  renamed: '视图已改名为 {{name}}',
  delete: '删除视图 {{name}}',
  going: '视图 {{name}} 将被删除；使用过它的运行保持不变',
  none: '还没有视图：可以把查询或筛选条件保存为视图',
};
