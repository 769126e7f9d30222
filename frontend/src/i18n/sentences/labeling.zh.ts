/** Chinese of the sentences about labeling. */
export const labeling: Readonly<Record<string, string>> = {
  'labeling.answer_missing': '请填写 label_id 或 document。',
  'labeling.document_too_large': '最多 {max_bytes} 字节。',
  'labeling.label_changed': '自您看到以后，该标注已更改。',
  'labeling.label_unknown': '没有编号为 {id} 的标签。',
  'labeling.no_correction_due': '该条目不在等待更正。',
  'labeling.no_files_to_label': '{dataset} 没有可标注的文件。',
  'labeling.no_images': '符合条件的文件中，{not_images} 个不是图像，{unreadable} 个是无法读取的图像。',
  'labeling.not_finished': '{count} 个条目未完成。',
  'labeling.ontology_missing': '请填写 labels 或 ontology_version。',
  'labeling.submitted_already': '您已提交过该条目。',
  'labeling.task_is': '任务的状态为“{state:w}”。',
  'labeling.too_many_files': '符合条件的文件超过 {max_items} 个。',
  'labeling.version_unknown': '项目里没有这个版本。',
};
