#pragma once

// The entry of each command: the file commands/NAME.cc defines the namespace NAME_program, where its own
// names do not meet those of other commands. command_table.cc gives the entries their names. Each takes what
// Invocation promises and returns the exit status; Stopped passes through.
namespace atl::shell {

class Invocation;

namespace awk_program {
int run_awk(Invocation& call);
}
namespace base_encoding_program {
int run_base_encoding(Invocation& call);
}
namespace basename_program {
int run_basename(Invocation& call);
int run_dirname(Invocation& call);
}  // namespace basename_program
namespace bc_program {
int run_bc(Invocation& call);
}
namespace cat_program {
int run_cat(Invocation& call);
}
namespace chmod_program {
int run_chmod(Invocation& call);
int run_chown(Invocation& call);
}  // namespace chmod_program
namespace cmp_program {
int run_cmp(Invocation& call);
}
namespace column_program {
int run_column(Invocation& call);
}
namespace comm_program {
int run_comm(Invocation& call);
}
namespace cp_program {
int run_cp(Invocation& call);
}
namespace csplit_program {
int run_csplit(Invocation& call);
}
namespace curl_program {
int run_curl(Invocation& call);
}
namespace cut_program {
int run_cut(Invocation& call);
}
namespace date_program {
int run_date(Invocation& call);
}
namespace dc_program {
int run_dc(Invocation& call);
}
namespace dd_program {
int run_dd(Invocation& call);
}
namespace diff_program {
int run_diff(Invocation& call);
}
namespace digest_program {
int run_digest(Invocation& call);
int run_cksum(Invocation& call);
}  // namespace digest_program
namespace du_program {
int run_du(Invocation& call);
int run_df(Invocation& call);
}  // namespace du_program
namespace env_program {
int run_env(Invocation& call);
int run_printenv(Invocation& call);
}  // namespace env_program
namespace expand_program {
int run_expand(Invocation& call);
int run_unexpand(Invocation& call);
}  // namespace expand_program
namespace expr_program {
int run_expr(Invocation& call);
}
namespace factor_program {
int run_factor(Invocation& call);
int run_tsort(Invocation& call);
}  // namespace factor_program
namespace file_program {
int run_file(Invocation& call);
}
namespace find_program {
int run_find(Invocation& call);
}
namespace fmt_program {
int run_fmt(Invocation& call);
}
namespace fold_program {
int run_fold(Invocation& call);
}
namespace getopt_program {
int run_getopt(Invocation& call);
}
namespace grep_program {
int run_grep(Invocation& call);
}
namespace gzip_program {
int run_gzip(Invocation& call);
int run_zstd(Invocation& call);
int run_bzip2(Invocation& call);
int run_xz(Invocation& call);
}  // namespace gzip_program
namespace head_program {
int run_head(Invocation& call);
}
namespace hexdump_program {
int run_hexdump(Invocation& call);
}
namespace html2text_program {
int run_html2text(Invocation& call);
}
namespace iconv_program {
int run_iconv(Invocation& call);
}
namespace identity_program {
int run_whoami(Invocation& call);
int run_logname(Invocation& call);
int run_id(Invocation& call);
int run_groups(Invocation& call);
int run_hostname(Invocation& call);
int run_uname(Invocation& call);
int run_arch(Invocation& call);
int run_nproc(Invocation& call);
int run_tty(Invocation& call);
int run_clear(Invocation& call);
int run_sync(Invocation& call);
}  // namespace identity_program
namespace install_program {
int run_install(Invocation& call);
}
namespace join_program {
int run_join(Invocation& call);
}
namespace jq_program {
int run_jq(Invocation& call);
}
namespace ln_program {
int run_ln(Invocation& call);
}
namespace ls_program {
int run_ls(Invocation& call);
}
namespace md2text_program {
int run_md2text(Invocation& call);
}
namespace mkdir_program {
int run_mkdir(Invocation& call);
}
namespace mktemp_program {
int run_mktemp(Invocation& call);
}
namespace mv_program {
int run_mv(Invocation& call);
}
namespace nice_program {
int run_nice(Invocation& call);
int run_nohup(Invocation& call);
}  // namespace nice_program
namespace nl_program {
int run_nl(Invocation& call);
}
namespace od_program {
int run_od(Invocation& call);
}
namespace paste_program {
int run_paste(Invocation& call);
}
namespace patch_program {
int run_patch(Invocation& call);
}
namespace realpath_program {
int run_readlink(Invocation& call);
int run_realpath(Invocation& call);
}  // namespace realpath_program
namespace rev_program {
int run_rev(Invocation& call);
}
namespace rm_program {
int run_rm(Invocation& call);
}
namespace rmdir_program {
int run_rmdir(Invocation& call);
}
namespace sed_program {
int run_sed(Invocation& call);
}
namespace seq_program {
int run_seq(Invocation& call);
int run_yes(Invocation& call);
}  // namespace seq_program
namespace shuf_program {
int run_shuf(Invocation& call);
}
namespace sort_program {
int run_sort(Invocation& call);
}
namespace split_program {
int run_split(Invocation& call);
}
namespace sqlite3_program {
int run_sqlite3(Invocation& call);
}
namespace stat_program {
int run_stat(Invocation& call);
}
namespace strings_program {
int run_strings(Invocation& call);
}
namespace tac_program {
int run_tac(Invocation& call);
}
namespace tail_program {
int run_tail(Invocation& call);
}
namespace tar_program {
int run_tar(Invocation& call);
}
namespace tee_program {
int run_tee(Invocation& call);
}
namespace time_program {
int run_time(Invocation& call);
}
namespace timeout_program {
int run_timeout(Invocation& call);
int run_sleep(Invocation& call);
}  // namespace timeout_program
namespace touch_program {
int run_touch(Invocation& call);
}
namespace tr_program {
int run_tr(Invocation& call);
}
namespace tree_program {
int run_tree(Invocation& call);
}
namespace truncate_program {
int run_truncate(Invocation& call);
int run_mkfifo(Invocation& call);
int run_link(Invocation& call);
int run_unlink(Invocation& call);
}  // namespace truncate_program
namespace uniq_program {
int run_uniq(Invocation& call);
}
namespace wc_program {
int run_wc(Invocation& call);
}
namespace which_program {
int run_which(Invocation& call);
}
namespace xargs_program {
int run_xargs(Invocation& call);
}
namespace xxd_program {
int run_xxd(Invocation& call);
}
namespace yq_program {
int run_yq(Invocation& call);
}
namespace zip_program {
int run_zip(Invocation& call);
int run_unzip(Invocation& call);
}  // namespace zip_program

}  // namespace atl::shell
