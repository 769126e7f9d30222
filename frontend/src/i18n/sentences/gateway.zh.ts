/** Chinese of the sentences about transfers of packs. */
export const gateway: Readonly<Record<string, string>> = {
  'gateway.credentials_not_decryptable': '无法解密已保存的凭据。',
  'gateway.file_has_bytes': '该文件有 {size_bytes} 字节。',
  'gateway.image_not_decodable': '无法解码图像：{reason}。',
  'gateway.pack_damaged_at': '数据包 {pack} 在第 {offset} 字节处损坏。',
  'gateway.pack_missing': '存储中没有数据包 {pack}。',
  'gateway.pack_quarantined': '数据包 {pack} 已损坏并被隔离。',
  'gateway.part_has_other_size': '该分片有 {size_bytes} 字节，而不是 {sent_bytes} 字节。',
  'gateway.picture_too_large': '缩略图最多由 {max_pixels} 像素的图像生成。',
  'gateway.store_answered': '存储的答复是 {status_code}。',
};
