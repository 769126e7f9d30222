import type * as en from './shell.en';
import type { Translation } from './types';

export const nav: Translation<typeof en.nav> = {
  main: '主导航',
  menu: '菜单',
  skip: '跳到内容',
  overview: '概览',
  data: '数据',
  datasets: '数据集',
  labeling: '标注',
  training: '训练',
  runs: '运行',
  newRun: '新建运行',
  models: '模型',
  settings: '设置',
  tokens: '访问令牌',
  audit: '审计日志',
};

export const shell: Translation<typeof en.shell> = {
  project: '项目',
  noProject: '没有项目',
  language: '语言',
  theme: '主题',
  themeLight: '浅色',
  themeDark: '深色',
  themeAuto: '跟随系统',
  toggleTheme: '切换浅色和深色',
  density: '紧凑表格',
  account: '{{name}} 的账户',
  signOut: '退出登录',
  shortcuts: '键盘快捷键',
  palette: '搜索页面和操作…',
  openPalette: '打开命令面板',
  goTo: '前往',
  projects: '切换项目',
  offline: '已离线，数据可能不是最新的。',
  thisPage: '本页',
  everywhere: '全局',
  thenKey: '然后',
  loadingPage: '页面加载中',
  noProjectHint: '您还没有项目，请联系管理员分配角色。',
};
