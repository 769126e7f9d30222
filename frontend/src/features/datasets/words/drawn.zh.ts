import type { Translation } from '@/i18n/types';
import type * as en from './drawn.en';

export const drawn: Translation<typeof en.drawn> = {
  title: '图片上的对象',
  objects: '对象',
  show: '显示对象',
  count_other: '{{count, number}} 个对象',
  nothing: '已有人查看此图片，图上没有对象。',
  classes: '显示的类别',
  object: '{{label}} {{number, number}}',
  ignored: '忽略',
  more: '再显示 {{number, number}} 个',
  filter: {
    label: '按对象筛选',
    any: '任意对象',
    pictures: '图片',
    classes: '各类别的对象',
    annotated: '已标注（{{number, number}}）',
    empty: '已标注但没有对象',
    missing: '未标注',
  },
  changed: {
    added: '新增 {{number}}',
    removed: '删除 {{number}}',
    changed: '修改 {{number}}',
  },
  facts: {
    source: '来源',
    annotator: '标注者',
    revision: '修订',
    agreement: '一致性',
    audit: '审核',
    classes: '整张图片的类别',
  },
  audit: { not_sampled: '未被抽中审核', accepted: '已通过', corrected: '由审核员修改' },
  source: { human: '人工', import: '导入', model: '模型' },
  kind: {
    box: '矩形框',
    rotated_box: '旋转框',
    polygon: '多边形',
    polyline: '折线',
    point: '点',
    keypoints: '关键点',
    mask: '掩码',
  },
  yes: '是',
  no: '否',
};
