import type { runpage as en } from './runpage.en';
import type { Translation } from './types';

export const runpage: Translation<typeof en> = {
  files: {
    top: '文件',
    where: '文件夹',
    folder: '文件夹 {{name}}',
    inside_other: '{{shown}} 个文件',
    emptyFolder: '此文件夹中没有内容',
    emptyHint: '链接中的文件夹可能从未被写入。',
    truncated: '只列出此文件夹的前 1,000 个名称。',
    checkpointOf: '第 {{step, number}} 步',
    ofAttempt: '第 {{number}} 次尝试',
    states: {
      local: '文件还在运行所在的机器上，保存后才能打开。',
      failed: '文件内容与登记的不一致。',
    },
  },
  preview: {
    cut: '只显示文件的开头部分。完整内容请下载查看。',
    none: {
      not_stored: '文件尚未保存，保存后即可查看。',
      unknown: '无法显示这种文件，请下载后打开。',
      too_large: '图片太大，无法在此显示。',
      binary: '文件内容不是文本。',
    },
    table: '表格',
    row: '行',
    types: { integer: '整数', number: '数值', boolean: '真假值', time: '时间', text: '文本' },
    tree: '文档',
    items_other: '{{count, number}} 项',
    more: '再显示 {{count, number}} 项',
    noScalars: '事件文件中还没有标量。',
    others_other: '另有 {{count, number}} 个值（例如图片或直方图）未显示。',
    image: '图片 {{path}}',
    pictureLeftOut: '［图片：{{text}}］',
    raw: '源文本',
    rendered: '排版',
    view: '显示方式',
  },
};
