//! A fault of Certus is told, reproduced in a file, and keeps every result back. Alone in its process: a fault stays noted.

use std::ffi::OsString;
use std::io::Write;

use certus_graph::{Fault, GraphError, fault::noted};
use certus_tasks::fault_file::FaultFile;
use certus_tasks::output::Output;

#[test]
fn a_fault_ends_in_a_file_and_no_result_is_told_after_it() {
    let folder = std::env::temp_dir().join(format!("certus-fault-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (system, weights, result) = (folder.join("a.certus"), folder.join("w.onnx"), folder.join("result.json"));
    std::fs::write(&system, "system a { }\n").unwrap();
    std::fs::write(&weights, [0xff, 0xfe, 0x00]).unwrap();

    assert_eq!(noted(), None);
    let mut output = Output::open(Some(&result)).unwrap();
    output.write_all(b"{ \"verdict\": \"holds\" }").unwrap();

    let fault = Fault::raise("two bounds cross", "node 7: [1, 2] and [3, 4]");
    let _ = Fault::raise("a later one", "");
    assert_eq!(noted(), Some(fault.clone()), "the first one counts");
    let error: GraphError = fault.clone().into();
    assert_eq!(error.to_string(), "internal fault: two bounds cross; please report it");

    assert!(output.finish().unwrap_err().to_string().contains("two bounds cross"));
    assert!(!result.exists());

    let arguments = ["certus", "check", system.to_str().unwrap(), weights.to_str().unwrap(), "--json"];
    let file = FaultFile::new(&fault, arguments.map(OsString::from));
    let path = file.write(&folder).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert_eq!(name, format!("certus-fault-{}.txt", &certus_audit::digest(text.as_bytes())[..12]));
    for part in
        ["\"check\"", "\"--json\"", "two bounds cross", "node 7: [1, 2] and [3, 4]", "system a { }", "w.onnx (sha256 "]
    {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
