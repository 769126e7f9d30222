import type { preflight as en } from './preflight.en';
import type { Translation } from './types';

export const preflight: Translation<typeof en> = {
  title: '数据',
  dataOf: '数据：{{reference}}',
  looking: '正在检查数据…',
  blocked: '该运行会失败：',
  making: '正在生成下一个版本…',
  media: { image: '图像', video: '视频' },
  check: {
    fits_other: '{{count, number}} 个文件，已标注 {{labelled, number}} 个，类别 {{classes, number}} 个。',
    fits_plain_other: '将读取 {{count, number}} 个文件。',
    no_files: '该运行读不到 {{dataset}} 的任何文件：没有匹配项。',
    split_empty: '{{dataset}} 的划分 {{split}} 中没有文件。',
    no_media_other: '{{count, number}} 个文件，没有{{media}}：该工作流需要{{media}}。',
    no_labels_other: '{{count, number}} 个文件，已标注 0 个：该工作流需要标注。',
    too_few_classes_other:
      '已标注 {{labelled, number}} 个，类别 {{count}} 个（{{names}}）：该工作流至少需要 {{needed}} 个类别。',
    some_unlabelled_other: '{{files, number}} 个文件中有 {{count, number}} 个没有标注，运行时会跳过。',
    small_class: '{{names}} 的文件少于 {{few}} 个，难以学习。',
    none_readable: '{{dataset}} 中没有一张图像能打开。',
    some_unreadable_other: '{{pictures, number}} 张图像中有 {{count, number}} 张无法读取，运行时会跳过（{{names}}）。',
    sample_unreadable_other: '至少 {{count, number}} 张图像无法解码，运行时会跳过（{{names}}）。',
    quarantined: '{{dataset}} 有文件被隔离：其内容与摘要不符。',
    no_test_split: '{{dataset}} 没有测试划分：训练后没有留出的数据可供评估。',
    seen_in_training_other:
      '{{model}} 训练时用过这 {{files, number}} 个文件中的 {{count, number}} 个：此处的准确率会偏高。',
    training_unread: '{{model}} 训练所用的 {{versions}} 已无法读取；其训练数据可能包含此版本的文件。',
    not_counted: '{{dataset}} 有 {{files, number}} 个文件：数量过大，此处不统计类别和划分。',
  },
  remedy: {
    label_by_folder: '用文件夹名作为标注',
    label: '去标注',
    make_test_split: '生成测试划分',
    choose_version: '选择其他版本',
    open_dataset: '打开数据集',
    show_unreadable: '查看这些图像',
    clone: '修改后重新运行',
    train_again: '用此版本训练',
  },
  made: {
    label_by_folder: '{{reference}} 已用文件夹名作为标注',
    make_test_split: '{{reference}} 已有测试划分：20 % 的文件',
  },
  splitFiles_other: '{{name}} · {{count, number}} 个文件',
  pickSplit: '选择划分',
  nameHint: '留空时，运行名为 {{name}}。',
};
