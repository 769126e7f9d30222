import type { palette as en } from './palette.en';
import type { Translation } from './types';

export const palette: Translation<typeof en> = {
  inLists: '本页列表中',
  kin: '与当前内容相关',
  recent: '最近的页面',
  people: '人员',
  density: '紧凑或宽松',
  themeAuto: '主题跟随系统',
  tables: '安装的数据表',
  pages: {
    sources: '数据来源',
    uploads: '上传文件',
    deletedDatasets: '已删除的数据集',
    files: '数据集的文件',
    versions: '版本、分支与版本标签',
    diff: '比较版本',
    cleaning: '清洗',
    keeping: '保留与删除',
    refs: '数据集的分支与版本标签',
    activity: '数据集的动态',
    task: '标注任务',
    work: '标注',
    audit: '审核标注',
    newRun: '新建运行',
    queue: '队列',
    runRetention: '运行保留策略',
    compareRuns: '比较运行',
  },
  keys: {
    lists: '在列表和菜单中',
    row: '下一行或上一行',
    open: '打开或按下焦点所在项',
    next: '下一个或上一个控件',
    close: '关闭对话框、菜单或命令面板',
    ends: '网格的第一张或最后一张图片',
  },
};
