/** The sentences of the wizard about the chosen data, and the buttons that repair it. */
export const preflight = {
  title: 'Data',
  dataOf: 'Data: {{reference}}',
  looking: 'Looking at the data…',
  blocked: 'The run would fail:',
  making: 'The next version is being made…',
  media: { image: 'pictures', video: 'videos' },
  check: {
    fits_one: '{{count, number}} file, {{labelled, number}} labelled, classes: {{classes, number}}.',
    fits_other: '{{count, number}} files, {{labelled, number}} labelled, classes: {{classes, number}}.',
    fits_objects_one:
      '{{count, number}} picture, {{annotated, number}} annotated. Objects: {{objects, number}}, classes: {{classes, number}}.',
    fits_objects_other:
      '{{count, number}} pictures, {{annotated, number}} annotated. Objects: {{objects, number}}, classes: {{classes, number}}.',
    fits_plain_one: '{{count, number}} file to read.',
    fits_plain_other: '{{count, number}} files to read.',
    version_empty: '{{dataset}} has no files.',
    only_links_one: '{{dataset}} has only a link and no file.',
    only_links_other: '{{dataset}} has only links ({{count, number}}) and no file.',
    no_files: 'The run would read no file of {{dataset}}: nothing matches.',
    split_empty: 'No files in the split {{split}} of {{dataset}}.',
    no_media_one: '{{count, number}} file, no {{media}}: this workflow needs {{media}}.',
    no_media_other: '{{count, number}} files, no {{media}}: this workflow needs {{media}}.',
    no_labels_one: '{{count, number}} file, 0 labelled: this workflow needs labels.',
    no_labels_other: '{{count, number}} files, 0 labelled: this workflow needs labels.',
    no_objects_one: '{{count, number}} picture, none with objects: this workflow needs objects.',
    no_objects_other: '{{count, number}} pictures, none with objects: this workflow needs objects.',
    some_not_annotated_one:
      '{{count, number}} of {{files, number}} pictures has no annotations: the run leaves it out.',
    some_not_annotated_other:
      '{{count, number}} of {{files, number}} pictures have no annotations: the run leaves them out.',
    too_few_classes_one:
      '{{labelled, number}} labelled, all {{names}}: this workflow needs at least {{needed}} classes.',
    too_few_classes_other:
      '{{labelled, number}} labelled, {{count}} classes ({{names}}): this workflow needs at least {{needed}}.',
    nothing_to_train_on:
      'The split train of {{dataset}} has no labelled file: there is nothing to train on ({{splits}}).',
    training_one_class:
      'The split train of {{dataset}} has only {{names}}: this workflow needs at least {{needed}} classes to train on.',
    all_in_train_one:
      '{{count, number}} file of {{dataset}}, in the split train: none is there to validate or test on.',
    all_in_train_other:
      'All {{count, number}} files of {{dataset}} are in the split train: none is there to validate or test on.',
    some_unlabelled_one: '{{count, number}} of {{files, number}} files has no label: the run leaves it out.',
    some_unlabelled_other: '{{count, number}} of {{files, number}} files have no label: the run leaves them out.',
    small_class: 'Fewer than {{few}} files of {{names}}: that is little to learn from.',
    none_readable: 'No picture of {{dataset}} can be opened.',
    some_unreadable_one:
      '{{count, number}} of {{pictures, number}} pictures cannot be read; the run skips it ({{names}}).',
    some_unreadable_other:
      '{{count, number}} of {{pictures, number}} pictures cannot be read; the run skips them ({{names}}).',
    sample_unreadable_one: 'At least {{count, number}} picture cannot be decoded; the run skips it ({{names}}).',
    sample_unreadable_other: 'At least {{count, number}} pictures cannot be decoded; the run skips them ({{names}}).',
    quarantined: 'Files of {{dataset}} are in quarantine: their bytes do not match their digests.',
    no_test_split: '{{dataset}} has no test split: nothing stays apart to measure the model on later.',
    seen_in_training_one:
      '{{model}} was trained on {{count, number}} of these {{files, number}} files: its accuracy here will be too good.',
    seen_in_training_other:
      '{{model}} was trained on {{count, number}} of these {{files, number}} files: its accuracy here will be too good.',
    training_unread:
      '{{model}} was trained on {{versions}}, which cannot be read any more. Its training data may hold files of this version.',
    not_counted: '{{dataset}} has {{files, number}} files: classes and splits of so many are not counted here.',
  },
  remedy: {
    label_by_folder: 'Use folder names as labels',
    label: 'Label them',
    relabel: 'Label again, with more classes',
    draw_splits: 'Draw new splits',
    make_test_split: 'Make a test split',
    choose_version: 'Choose another version',
    open_dataset: 'Open the dataset',
    show_unreadable: 'Show them',
    clone: 'Clone with changes',
    train_again: 'Train on this version',
  },
  made: {
    label_by_folder: '{{reference}} has the folder names as labels',
    draw_splits: '{{reference}} has new splits: 20 % test, 10 % val, the rest train',
    make_test_split: '{{reference}} has a test split: 20 % of the files',
  },
  splitFiles_one: '{{name}} · {{count, number}} file',
  splitFiles_other: '{{name}} · {{count, number}} files',
  pickSplit: 'Choose a split',
  nameHint: 'Left empty, the run is called {{name}}.',
};
